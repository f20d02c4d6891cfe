// The last lines of a test run.
import type { FileResult } from './messages.ts';
import type { PoolOutcome } from './pool.ts';

const SLOWEST = 10;

/** One line for a file that passed. */
export const fileLine = ({ file, passed, seconds }: FileResult): string =>
  `  ${file}: ${passed} passed (${seconds.toFixed(1)} s)`;

/** Returns the last lines of the output. The very last one is the sum, for CI. */
export function summary(
  { results, crashes, leftovers }: PoolOutcome,
  { allTimes, ranAllApiTests }: { allTimes: boolean; ranAllApiTests: boolean },
): { lines: string[]; passed: number; failed: number } {
  const sum = (of: (result: FileResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const passed = sum((result) => result.passed);
  const failures = results.flatMap((result) => result.failures.map((failure) => `${result.file}: ${failure}`));
  const more = [
    ...crashes,
    ...(passed + failures.length === 0 ? ['No test ran at all.'] : []),
    // Unknown after a crash, since what the child has seen is lost with it.
    ...(ranAllApiTests && crashes.length === 0 ? unmet(leftovers) : []),
  ];
  const failed = sum((result) => result.failed) + more.length;
  const bySeconds = [...results].sort((a, b) => b.seconds - a.seconds);
  const slowest = bySeconds.slice(0, allTimes ? bySeconds.length : SLOWEST);
  const lines = [
    ...(slowest.length > 1 ? [allTimes ? 'Times of all files:' : 'Slowest files:'] : []),
    ...(slowest.length > 1 ? slowest.map(timeLine) : []),
    ...[...failures, ...more].map((failure) => `FAILED: ${failure}`),
    `${passed} passed, ${failed} failed`,
  ];
  return { lines, passed, failed };
}

const timeLine = ({ file, seconds, cpu }: FileResult): string =>
  `${seconds.toFixed(1).padStart(8)} s ${cpu.toFixed(1).padStart(8)} s of processor time  ${file}`;

/** What no child has seen: the children share the API tests between them. */
function unmet(leftovers: PoolOutcome['leftovers']): string[] {
  const statements = inAll(leftovers.flatMap(({ unusedStatements }) => (unusedStatements ? [unusedStatements] : [])));
  const answers = inAll(leftovers.flatMap(({ unseenAnswers }) => (unseenAnswers ? [unseenAnswers] : [])));
  return [
    ...statements.map((statement) => `No test uses this allowed statement: ${statement}`),
    ...answers.map((answer) => `No API test has seen this declared answer: ${answer}`),
  ];
}

function inAll([first = [], ...others]: string[][]): string[] {
  return first.filter((item) => others.every((list) => list.includes(item)));
}
