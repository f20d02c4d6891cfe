// Ends what tests start, newest first: what one file uses after that file, what all files share at the end of the run.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Cleanup = () => Promise<void> | void;

const ofFile: Cleanup[] = [];
const ofRun: Cleanup[] = [];
let directory: string | undefined;

/** For what a test file starts. A worker that nobody needs any more would poll until the run ends. */
export function atEnd(cleanup: Cleanup): void {
  ofFile.push(cleanup);
}

/** For what all files of a run share. */
export function atEndOfRun(cleanup: Cleanup): void {
  ofRun.push(cleanup);
}

/** Returns a directory of this run, which is removed at its end. */
export function runDirectory(): string {
  if (!directory) {
    const created = mkdtempSync(join(tmpdir(), 'everpost-test-'));
    // As root, Postgres runs under another account, which must be able to enter.
    chmodSync(created, 0o755);
    directory = created;
    const remove = () => rmSync(created, { recursive: true, force: true, maxRetries: 10 });
    atEndOfRun(() => {
      directory = undefined;
      remove();
    });
    // An interrupted run reaches only this handler; servers that are stopping may still write.
    process.once('exit', () => directory && remove());
  }
  return directory;
}

/** Called after each file where one process runs several. */
export const endFile = (): Promise<void> => runAll(ofFile);

export async function endAll(): Promise<void> {
  await endFile();
  await runAll(ofRun);
}

async function runAll(cleanups: Cleanup[]): Promise<void> {
  const errors: unknown[] = [];
  for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop()) {
    try {
      await cleanup();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'Some of what the tests started could not be stopped.');
}

/** Calls `make` only the first time: for servers that all test files of a run share. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | undefined;
  return () => {
    created ??= make();
    return created;
  };
}
