// Downloads and builds that take long (the Temporal servers) are cached once per user, for all checkouts.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { lock } from './lock.ts';
import { type ReportProgress, seconds } from './report.ts';

const ABANDONED_AFTER_MS = 24 * 3600 * 1000;

export function cacheDir(): string {
  const base = process.env.XDG_CACHE_HOME;
  // The XDG base directory specification says to ignore a relative path here.
  return join(base && isAbsolute(base) ? base : join(homedir(), '.cache'), 'everpost');
}

/**
 * Returns the cache directory `name` and runs `build` first when it is missing. The build runs in a temporary directory
 * and is renamed into place, so an existing entry is complete. A second process waits for the first one's build.
 */
export async function cached(
  name: string,
  report: ReportProgress,
  build: (dir: string) => Promise<void>,
): Promise<string> {
  const final = join(cacheDir(), name);
  if (existsSync(final)) return final;
  const cacheLock = await lock(join(cacheDir(), 'locks', `${name.replaceAll('/', '-')}.lock`), (owner, waitedMs) => {
    const waitedSeconds = Math.round(waitedMs / 1000);
    if (waitedSeconds % 15 === 0) {
      report(`waiting for another run (pid ${owner?.pid ?? 'unknown'}) that is making ${name}, ${waitedSeconds} s`);
    }
  });
  try {
    if (!existsSync(final)) await buildInto(final, report, build);
    return final;
  } finally {
    cacheLock.release();
  }
}

async function buildInto(final: string, report: ReportProgress, build: (dir: string) => Promise<void>): Promise<void> {
  const started = Date.now();
  const tempDir = join(cacheDir(), 'tmp');
  mkdirSync(tempDir, { recursive: true });
  removeAbandoned(tempDir);
  const dir = mkdtempSync(join(tempDir, 'build-'));
  try {
    await build(dir);
    mkdirSync(dirname(final), { recursive: true });
    renameSync(dir, final);
    report(`  done in ${seconds(started)}, kept in ${final}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

// Removes what killed runs left behind. A build takes minutes, so a day is safe.
function removeAbandoned(tempDir: string): void {
  for (const entry of readdirSync(tempDir)) {
    const dir = join(tempDir, entry);
    if (Date.now() - statSync(dir).mtimeMs > ABANDONED_AFTER_MS) rmSync(dir, { recursive: true, force: true });
  }
}
