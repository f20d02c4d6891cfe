// A stack that is killed with SIGKILL cannot stop its children. Each child is recorded in `run/<part>.json`, by pid and
// start time, and the next start stops those that still run.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf, isIdentity, isRunning, type ProcessIdentity } from '../process-identity.ts';
import type { ReportProgress } from '../report.ts';
import { type PartName, SHUTDOWN_ORDER, SHUTDOWN_STEPS } from './shutdown.ts';

const fileOf = (runDir: string, part: PartName): string => join(runDir, `${part}.json`);

export function recordProcess(runDir: string, part: PartName, pid: number): void {
  writeFileSync(fileOf(runDir, part), JSON.stringify(identityOf(pid) ?? {}), { mode: 0o600 });
}

export function forgetProcess(runDir: string, part: PartName): void {
  rmSync(fileOf(runDir, part), { force: true });
}

export async function stopOrphans(runDir: string, report: ReportProgress): Promise<void> {
  for (const parts of SHUTDOWN_ORDER) {
    await Promise.all(parts.map((part) => stopOrphan(runDir, part, report)));
  }
}

async function stopOrphan(runDir: string, part: PartName, report: ReportProgress): Promise<void> {
  const orphan = readProcess(runDir, part);
  if (orphan && isRunning(orphan)) {
    report(`Ending what an earlier stack left behind: ${part} (pid ${orphan.pid})`);
    await stopProcess(orphan, part);
  }
  forgetProcess(runDir, part);
}

async function stopProcess(orphan: ProcessIdentity, part: PartName): Promise<void> {
  // Every part leads its own process group; the last signal ends its children too.
  const last = { signal: 'SIGKILL' as const, waitMs: 5_000, target: -orphan.pid };
  const steps = [...SHUTDOWN_STEPS[part].map((step) => ({ ...step, target: orphan.pid })), last];
  for (const { signal, waitMs, target } of steps) {
    try {
      process.kill(target, signal);
    } catch {
      // The process has exited, or belongs to another user; the check below decides.
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

function readProcess(runDir: string, part: PartName): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(fileOf(runDir, part), 'utf8'));
    return isIdentity(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
