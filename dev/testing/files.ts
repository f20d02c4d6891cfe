// Selects the test files of a run and orders them by their recorded times.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** What a file took when the times were recorded: `cpu` counts its own process and the processes that it started. */
export interface RecordedTime {
  seconds: number;
  cpu: number;
}

export type RecordedTimes = Record<string, RecordedTime>;

export interface PlannedFile {
  file: string;
  seconds: number;
  /** Mostly waits for leases, timeouts and starting processes, so that several such files share a core. */
  waits: boolean;
}

const isTest = (name: string): boolean => /\.(test|ci|slow)\.ts$/.test(name);

/** With `all`, also `*.ci.ts`, which take too long for every run. `*.slow.ts` run by name only. */
export function testFiles(root: string, { all = false } = {}): string[] {
  return filesIn(root, 'test').filter((name) => name.endsWith('.test.ts') || (all && name.endsWith('.ci.ts')));
}

/** Returns the files that were named; a folder stands for its `*.test.ts`. Throws when there is no such file. */
export function namedFiles(root: string, names: string[], cwd = root): string[] {
  const files = names.flatMap((name) => {
    const path = resolve(cwd, name);
    const file = relative(root, path).replaceAll('\\', '/');
    if (!existsSync(path)) throw new Error(`There is no test file ${name}.`);
    if (statSync(path).isDirectory()) return filesIn(root, file).filter((found) => found.endsWith('.test.ts'));
    if (!isTest(file))
      throw new Error(`${name} is not a test: its name ends with neither .test.ts, .ci.ts nor .slow.ts.`);
    return [file];
  });
  if (names.length > 0 && files.length === 0) throw new Error(`There is no test in ${names.join(', ')}.`);
  return [...new Set(files)];
}

const filesIn = (root: string, folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort();

/** Below this share of a core a file counts as waiting. */
const WAITING_SHARE = 0.5;
/** A file without a record starts early: it may be a long one. */
const UNKNOWN: RecordedTime = { seconds: 30, cpu: 30 };

/** Longest first: a long file that starts last would run alone at the end. */
export function plan(files: string[], times: RecordedTimes): PlannedFile[] {
  return files
    .map((file) => {
      const { seconds, cpu } = times[file] ?? UNKNOWN;
      return { file, seconds, waits: cpu < seconds * WAITING_SHARE };
    })
    .sort((a, b) => b.seconds - a.seconds);
}

const TIMES = 'test/times.json';

export const readTimes = (root: string): RecordedTimes => JSON.parse(readFileSync(join(root, TIMES), 'utf8'));

/** Replaces the times of the files that ran and drops those of files that no longer exist. */
export function recordTimes(root: string, measured: RecordedTimes): void {
  const merged = Object.entries({ ...readTimes(root), ...measured })
    .filter(([file]) => existsSync(join(root, file)))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = merged.map(
    ([file, { seconds, cpu }]) =>
      `  ${JSON.stringify(file)}: { "seconds": ${rounded(seconds)}, "cpu": ${rounded(cpu)} }`,
  );
  writeFileSync(join(root, TIMES), `{\n${lines.join(',\n')}\n}\n`);
}

const rounded = (value: number): number => Math.round(value * 10) / 10;
