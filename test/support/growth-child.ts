// Measures text paths in a separate process, which the test kills when a path does not end. Reports each filler before it
// is measured, and then the fillers for which the work grows faster than the text.
import { setTimeout as sleep } from 'node:timers/promises';
import { controls, fillers, lengthPaths, type TextPath, textPaths } from './text-paths.ts';

export type GrowthMessage =
  | { kind: 'ready' }
  | { kind: 'filler'; filler: string }
  | { kind: 'done'; faults: GrowthViolation[] };

export interface GrowthViolation {
  filler: string;
  /** The work for four times the text, divided by the work for the text: 4 when linear, 16 when quadratic. */
  ratio: number;
  length: number;
}

/** Each is four times the previous one. The first is short enough for quadratic work to end. */
const LENGTHS = [2_048, 8_192];
/** Reveals fast operations that repeatedly copy all previous text, whatever its characters. */
const LONG_LENGTHS = [32_768, 131_072];
const LONG_EVERY = 30;
/** Between linear (4) and quadratic (16). */
const MAX_GROWTH = 9;
/** Work that takes less than this many loops over the text is ignored, because it is too short to measure. */
const MIN_LOOPS = 25;
const REPETITIONS = 6;
/** The host of a virtual machine may take its processor for a while, which counts as time of the process. */
const REPETITIONS_OF_SHORT_WORK = 40;
const PAUSE_MS = 25;
const SHORT_US = 50_000;
const WARM_UP = ' x'.repeat(100);

const send = (message: GrowthMessage): void => void process.send?.(message);

/** Returns processor time in microseconds, because a busy machine interrupts long work more often. */
async function cost(work: TextPath, text: string): Promise<number> {
  const start = process.cpuUsage();
  await work(text);
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

function loopOver(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index++) sum = (sum * 31 + text.charCodeAt(index)) | 0;
  return sum;
}

/** Returns the least cost of several runs, because other load on the machine only adds to it. */
async function least(work: TextPath, text: string, best: number, times: number): Promise<number> {
  let lowest = best;
  for (let n = 0; n < times; n++) lowest = Math.min(lowest, await cost(work, text));
  return lowest;
}

/** The cost of one character in a loop, measured on this machine. */
let perCharacter = 0;

async function growthOf(
  work: TextPath,
  fill: (length: number) => string,
  lengths: number[],
): Promise<Omit<GrowthViolation, 'filler'> | undefined> {
  let previous: { text: string; cost: number } | undefined;
  for (const length of lengths) {
    const text = fill(length);
    // Measures the shorter texts twice: an outlier there would hide growth.
    let spent = await least(work, text, Number.POSITIVE_INFINITY, length === lengths.at(-1) ? 1 : 2);
    const floor = MIN_LOOPS * perCharacter * text.length;
    const isFast = (base: number): boolean => spent <= floor || spent <= MAX_GROWTH * base;
    if (previous && !isFast(previous.cost)) {
      for (let n = 0; n < REPETITIONS && !isFast(previous.cost); n++) spent = await least(work, text, spent, 1);
      for (let n = 0; n < REPETITIONS_OF_SHORT_WORK && !isFast(previous.cost) && spent < SHORT_US; n++) {
        await sleep(PAUSE_MS);
        spent = await least(work, text, spent, 1);
      }
      // Measures the shorter text again, whose first result may have been an outlier.
      const small = await least(work, previous.text, Number.POSITIVE_INFINITY, 3);
      const isSuspect = !isFast(Math.max(previous.cost, small));
      // What a busy machine adds to short work is little beside the work for a longer text.
      if (isSuspect && (spent >= SHORT_US || (await growsOn(work, fill(4 * length), spent))))
        return { ratio: Math.round(spent / small), length: text.length };
    }
    previous = { text, cost: spent };
  }
  return undefined;
}

/** Whether four times the text takes much more work once more. */
const growsOn = async (work: TextPath, longer: string, spent: number): Promise<boolean> =>
  (await least(work, longer, Number.POSITIVE_INFINITY, 3)) > MAX_GROWTH * spent;

const measured = Object.entries(fillers).map(([filler, fill], n) => ({
  filler,
  fill,
  lengths: [...LENGTHS, ...(n % LONG_EVERY === 0 ? LONG_LENGTHS : [])],
}));

async function measure(name: string): Promise<GrowthViolation[]> {
  const work = textPaths[name] ?? lengthPaths[name] ?? controls[name];
  if (!work) throw new Error(`There is no text path "${name}"`);
  const violations: GrowthViolation[] = [];
  // V8 compiles regular expressions at their second use.
  for (let n = 0; n < 3; n++) await work(WARM_UP);
  const needsOneFiller = name in lengthPaths || name in controls;
  for (const { filler, fill, lengths } of needsOneFiller ? measured.slice(0, 1) : measured) {
    send({ kind: 'filler', filler });
    const growth = await growthOf(work, fill, lengths);
    if (growth) violations.push({ filler, ...growth });
  }
  return violations;
}

const sample = 'x'.repeat(65_536);
least(loopOver, sample, Number.POSITIVE_INFINITY, 50).then((spent) => {
  perCharacter = spent / sample.length;
  process.on('message', (name: string) => void measure(name).then((faults) => send({ kind: 'done', faults })));
  process.on('disconnect', () => process.exit());
  send({ kind: 'ready' });
});
