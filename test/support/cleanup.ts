// What a test run starts once and shares (servers, directories) is ended here, last come first.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type End = () => Promise<void> | void;

const ends: End[] = [];
let directory: string | undefined;

export function atEnd(end: End): void {
  ends.push(end);
}

/** A directory for this run alone, gone at its end. */
export function runDirectory(): string {
  if (!directory) {
    const made = mkdtempSync(join(tmpdir(), 'everpost-test-'));
    // As root, Postgres runs under an account of its own, which must be able to get here.
    chmodSync(made, 0o755);
    directory = made;
    const remove = () => rmSync(made, { recursive: true, force: true, maxRetries: 10 });
    atEnd(() => {
      directory = undefined;
      remove();
    });
    // A run that is interrupted comes only here; servers that are just ending may still write.
    process.once('exit', () => directory && remove());
  }
  return directory;
}

export async function endAll(): Promise<void> {
  const faults: unknown[] = [];
  for (let end = ends.pop(); end; end = ends.pop()) {
    try {
      await end();
    } catch (fault) {
      faults.push(fault);
    }
  }
  if (faults.length > 0) throw new AggregateError(faults, 'Not everything that the tests started could be ended.');
}

/** Calls `make` the first time only: for servers that all test files of a run share. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
