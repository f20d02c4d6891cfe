// What is dear to get (the Temporal servers) is kept once per user, for all checkouts.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { lock } from './lock.ts';
import { type Report, seconds } from './report.ts';

const ABANDONED_AFTER_MS = 24 * 3600 * 1000;

export function cacheDir(): string {
  const base = process.env.XDG_CACHE_HOME;
  // The XDG rules say that a relative path there is to be ignored.
  return join(base && isAbsolute(base) ? base : join(homedir(), '.cache'), 'everpost');
}

/**
 * The directory `name` of the cache, made by `build` when it is not there. It is built beside and renamed into place,
 * so a directory that is there is whole; a second process waits for the first one's work instead of repeating it.
 */
export async function cached(name: string, report: Report, build: (dir: string) => Promise<void>): Promise<string> {
  const final = join(cacheDir(), name);
  if (existsSync(final)) return final;
  const held = await lock(join(cacheDir(), 'locks', `${name.replaceAll('/', '-')}.lock`), (heldBy, waitedMs) => {
    const waitedSeconds = Math.round(waitedMs / 1000);
    if (waitedSeconds % 15 === 0) {
      report(`waiting for another run (pid ${heldBy?.pid ?? 'unknown'}) that is making ${name}, ${waitedSeconds} s`);
    }
  });
  try {
    if (!existsSync(final)) await buildInto(final, report, build);
    return final;
  } finally {
    held.release();
  }
}

async function buildInto(final: string, report: Report, build: (dir: string) => Promise<void>): Promise<void> {
  const started = Date.now();
  const workshop = join(cacheDir(), 'tmp');
  mkdirSync(workshop, { recursive: true });
  removeAbandoned(workshop);
  const dir = mkdtempSync(join(workshop, 'build-'));
  try {
    await build(dir);
    mkdirSync(dirname(final), { recursive: true });
    renameSync(dir, final);
    report(`  done in ${seconds(started)}, kept in ${final}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

// Left by runs that were killed; a build takes minutes, so a day is far on the safe side.
function removeAbandoned(workshop: string): void {
  for (const entry of readdirSync(workshop)) {
    const dir = join(workshop, entry);
    if (Date.now() - statSync(dir).mtimeMs > ABANDONED_AFTER_MS) rmSync(dir, { recursive: true, force: true });
  }
}
