// The whole of the tests in two parts that run side by side, and what the two say together.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Exit, exitText } from './child.ts';

/** What the reporter writes down when the last test of a part is over. */
export interface Counts {
  passed: number;
  failed: number;
  /** The full names of those that failed. */
  failures: string[];
}

export interface Outcome {
  name: string;
  exit: Exit;
  /** Missing when the process ended before its tests did. */
  counts?: Counts;
}

/**
 * These mostly wait: for leases, for timeouts, for processes that start. The others keep a core busy meanwhile. On two
 * cores both parts take about the same time; mocha tells each part's at its end.
 */
const WAITING = ['cli', 'dev', 'e2e', 'worker'];

export function testFiles(root: string): string[] {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name.replaceAll('\\', '/')}`)
    .sort();
}

export interface Part {
  name: string;
  files: string[];
}

export function inTwoParts(files: string[]): [Part, Part] {
  const folderOf = (file: string) => file.split('/')[1] ?? '';
  const part = (isIn: (file: string) => boolean): Part => {
    const own = files.filter(isIn);
    return { name: `test/{${[...new Set(own.map(folderOf))]}}`, files: own };
  };
  const waits = (file: string) => WAITING.includes(folderOf(file));
  return [part((file) => !waits(file)), part(waits)];
}

/** The lines that end the run; the last of them is the sum, alone, for CI. */
export function summary(outcomes: Outcome[]): { lines: string[]; passed: number; failed: number } {
  const lines: string[] = [];
  let [passed, failed] = [0, 0];
  for (const outcome of outcomes) {
    const { name, counts } = outcome;
    const fault = faultOf(outcome);
    passed += counts?.passed ?? 0;
    // What the tests themselves do not know counts as one failure more: the sum alone must tell that not all is well.
    failed += (counts?.failed ?? 0) + (fault ? 1 : 0);
    lines.push(`${name}: ${counts ? `${counts.passed} passed, ${counts.failed} failed` : 'no result'}`);
    if (fault) lines.push(`  FAILED: ${fault}`);
    for (const title of counts?.failures ?? []) lines.push(`  FAILED: ${title}`);
  }
  lines.push(`${passed} passed, ${failed} failed`);
  return { lines, passed, failed };
}

function faultOf({ exit, counts }: Outcome): string | undefined {
  if (!counts) return `it ended before its tests did (${exitText(exit)})`;
  if (counts.passed + counts.failed === 0) return 'it ran no test at all';
  if (counts.failed === 0 && exit.code !== 0) return `its tests passed, but it did not end well (${exitText(exit)})`;
  return undefined;
}
