// Cleans up a data directory whose stack was killed: an orphaned postmaster, or its stale pid file.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, identityOf, isRunning, type ProcessIdentity } from './process-identity.ts';

/** Stops a postmaster that still runs in the data directory, so that a new one can start there. */
export async function stopOrphanedPostgres(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postmaster.pid');
  const lines = readLines(file);
  const pid = Number(lines[0]);
  const identity = Number.isInteger(pid) && pid > 0 ? identityOf(pid) : undefined;
  // Postgres handles the file of a dead postmaster itself, and uses its content to look for sessions that still run.
  if (!identity) return;
  if (commandLineOf(pid).includes(dataDir)) {
    await stopPostmaster(identity, dataDir);
    return;
  }
  // The pid was reused by another process, and Postgres would refuse to start because of it. Postgres treats the pid of its
  // own parent (this process) as stale. The other lines stay: they identify the shared memory of sessions that still run.
  writeFileSync(file, [String(process.pid), ...lines.slice(1)].join('\n'));
}

async function stopPostmaster(postmaster: ProcessIdentity, dataDir: string): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGINT', 30_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    process.kill(postmaster.pid, signal);
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline) {
      if (!isRunning(postmaster)) return;
      await sleep(50);
    }
  }
  throw new Error(`Another Postgres (pid ${postmaster.pid}) runs in ${dataDir} and cannot be stopped.`);
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
