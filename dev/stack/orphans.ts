// A stack that is killed with SIGKILL cannot take its children along. Each child is written down in `run/<part>.json`,
// by pid and start time, and the next start ends those that are still there.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isIdentity, isRunning, type ProcessIdentity } from '../process-identity.ts';
import type { Report } from '../report.ts';
import { ENDING_ORDER, type PartName, SHUTDOWN_STEPS } from './shutdown.ts';

const fileOf = (runDir: string, part: PartName): string => join(runDir, `${part}.json`);

export function writeDown(runDir: string, part: PartName, pid: number): void {
  writeFileSync(fileOf(runDir, part), JSON.stringify(identityOf(pid) ?? {}), { mode: 0o600 });
}

export function crossOut(runDir: string, part: PartName): void {
  rmSync(fileOf(runDir, part), { force: true });
}

export async function endOrphans(runDir: string, report: Report): Promise<void> {
  for (const together of ENDING_ORDER) {
    await Promise.all(together.map((part) => endOrphan(runDir, part, report)));
  }
}

async function endOrphan(runDir: string, part: PartName, report: Report): Promise<void> {
  const orphan = readDown(runDir, part);
  if (orphan && isRunning(orphan)) {
    report(`Ending what an earlier stack left behind: ${part} (pid ${orphan.pid})`);
    await end(orphan, part);
  }
  crossOut(runDir, part);
}

async function end(orphan: ProcessIdentity, part: PartName): Promise<void> {
  // Their group is theirs alone; the last signal takes whatever they started along.
  const last = { signal: 'SIGKILL' as const, waitMs: 5_000, target: -orphan.pid };
  const steps = [...SHUTDOWN_STEPS[part].map((step) => ({ ...step, target: orphan.pid })), last];
  for (const { signal, waitMs, target } of steps) {
    try {
      process.kill(target, signal);
    } catch {
      // Gone meanwhile, or not ours to end; the check below tells.
    }
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline) {
      if (!isRunning(orphan)) return;
      await sleep(50);
    }
  }
  throw new Error(
    `The ${part} process ${orphan.pid} of an earlier stack cannot be ended. End it yourself, then start again.`,
  );
}

function readDown(runDir: string, part: PartName): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(runDir, part), 'utf8'));
    return isIdentity(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
