// What an earlier stack that was killed left in a data directory: a postmaster without a parent, or its pid file.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, identityOf, isRunning, type ProcessIdentity } from './process-identity.ts';

/** Ends the postmaster that still works in the data directory, so that a new one can start there. */
export async function stopOrphanedPostgres(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postmaster.pid');
  const lines = readLines(file);
  const pid = Number(lines[0]);
  const identity = Number.isInteger(pid) && pid > 0 ? identityOf(pid) : undefined;
  // Postgres itself deals with the file of a dead postmaster, and looks for its living sessions by what is in it.
  if (!identity) return;
  if (commandLineOf(pid).includes(dataDir)) {
    await end(identity, dataDir);
    return;
  }
  // The number now belongs to somebody else, at whose sight Postgres would refuse to start. Our own number it takes
  // for stale, as its parent's; the rest of the file stays, since it leads to sessions that may still be alive.
  writeFileSync(file, [String(process.pid), ...lines.slice(1)].join('\n'));
}

async function end(postmaster: ProcessIdentity, dataDir: string): Promise<void> {
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
  throw new Error(`Another Postgres (pid ${postmaster.pid}) works in ${dataDir} and cannot be ended.`);
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}
