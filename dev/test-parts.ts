// Splits the tests into two parts that run side by side, and sums up their results.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { exitText, type ProcessExit } from './child.ts';

/** Written by the reporter after the last test of a part. */
export interface TestCounts {
  passed: number;
  failed: number;
  /** The full titles of the failed tests, with the reason. */
  failures: string[];
}

export interface TestPartOutcome {
  name: string;
  exit: ProcessExit;
  /** Missing when the process exited before its tests finished. */
  counts?: TestCounts;
}

/**
 * These folders mostly wait for leases, timeouts and starting processes, while the others keep a core busy. On two cores
 * both parts take about the same time; mocha prints the time of each part at its end.
 */
const WAITING_FOLDERS = ['browser', 'cli', 'dev', 'e2e', 'worker'];
/** The longest of the files that are too slow for every run. With it the first part takes about as long as the second. */
const LONGEST_FILE = 'test/browser/pages.matrix.ts';

/** `*.slow.ts` run by name only: they compare rates, or take very long. `npm test -- --ci` runs the cluster too. */
export const ciFiles = ['test/e2e/cluster.slow.ts'];

/** With `all`, also those that are too slow for every run: `*.matrix.ts`. */
export function testFiles(root: string, { all = false } = {}): string[] {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') || (all && name.endsWith('.matrix.ts')))
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .sort();
}

export interface TestPart {
  name: string;
  files: string[];
}

export function inTwoParts(files: string[]): [TestPart, TestPart] {
  const folderOf = (file: string) => file.split('/')[1] ?? '';
  const part = (isIn: (file: string) => boolean): TestPart => {
    const own = files.filter(isIn);
    return { name: `test/{${[...new Set(own.map(folderOf))]}}`, files: own };
  };
  const isWaiting = (file: string) => WAITING_FOLDERS.includes(folderOf(file)) && file !== LONGEST_FILE;
  return [part((file) => !isWaiting(file)), part(isWaiting)];
}

/** Returns the last lines of the output. The very last one is the sum, for CI. */
export function summary(outcomes: TestPartOutcome[]): { lines: string[]; passed: number; failed: number } {
  const lines: string[] = [];
  let [passed, failed] = [0, 0];
  for (const outcome of outcomes) {
    const { name, counts } = outcome;
    const crash = crashOf(outcome);
    passed += counts?.passed ?? 0;
    // A crash of the process counts as one more failure, so that the sum alone shows that the run failed.
    failed += (counts?.failed ?? 0) + (crash ? 1 : 0);
    lines.push(`${name}: ${counts ? `${counts.passed} passed, ${counts.failed} failed` : 'no result'}`);
    if (crash) lines.push(`  FAILED: ${crash}`);
    for (const title of counts?.failures ?? []) lines.push(`  FAILED: ${title}`);
  }
  lines.push(`${passed} passed, ${failed} failed`);
  return { lines, passed, failed };
}

function crashOf({ exit, counts }: TestPartOutcome): string | undefined {
  if (!counts) return `it ended before its tests did (${exitText(exit)})`;
  if (counts.passed + counts.failed === 0) return 'it ran no test at all';
  if (counts.failed === 0 && exit.code !== 0) return `its tests passed, but it did not end well (${exitText(exit)})`;
  return undefined;
}
