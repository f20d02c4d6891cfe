// Runs the text paths in a process of its own, which the test kills where one of them never ends. It tells of each path
// when it begins with it, and of each whose work grows faster than the text.
import { controls, fillers, lengthPaths, type TextPath, textPaths } from './text-paths.ts';

export type GrowthMessage =
  | { kind: 'ready' }
  | { kind: 'filler'; filler: string }
  | { kind: 'done'; faults: GrowthFault[] };

export interface GrowthFault {
  filler: string;
  /** What four times the text cost, in times of what the text cost: 4 for linear work, 16 for quadratic. */
  ratio: number;
  length: number;
}

/** Each is four times the one before. The first is short enough for quadratic work to end. */
const LENGTHS = [4_096, 16_384];
/** For what takes little time by itself but copies all that came before, again and again; not with every filler. */
const LONG = [65_536, 262_144];
const LONG_EVERY = 40;
/** Between linear (4) and quadratic (16). */
const MOST_GROWTH = 9;
/** Work that costs less than so many plain walks over the same text is not looked at: it is too short to be compared. */
const PLAIN_WALKS = 25;
const REPETITIONS = 6;
const WARM_UP = ' x'.repeat(100);

const send = (message: GrowthMessage): void => void process.send?.(message);

/** Microseconds of the processor and not of the clock: on a busy machine the longer work is interrupted more often. */
async function cost(work: TextPath, text: string): Promise<number> {
  const begin = process.cpuUsage();
  await work(text);
  const { user, system } = process.cpuUsage(begin);
  return user + system;
}

function walk(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = (sum * 31 + text.charCodeAt(at)) | 0;
  return sum;
}

/** The least of several, because whatever else the machine does only ever adds to it. */
async function least(work: TextPath, text: string, known: number, times: number): Promise<number> {
  let best = known;
  for (let n = 0; n < times; n++) best = Math.min(best, await cost(work, text));
  return best;
}

/** What one character costs to walk over: the measure of all else, taken on the same machine. */
let perCharacter = 0;

async function growthOf(work: TextPath, texts: string[]): Promise<Omit<GrowthFault, 'filler'> | undefined> {
  let before: { text: string; cost: number } | undefined;
  for (const text of texts) {
    // What the longer text is compared with is measured twice: a hiccup there would hide growth.
    let spent = await least(work, text, Number.POSITIVE_INFINITY, text === texts.at(-1) ? 1 : 2);
    const floor = PLAIN_WALKS * perCharacter * text.length;
    const isFast = (than: number): boolean => spent <= floor || spent <= MOST_GROWTH * than;
    if (before && !isFast(before.cost)) {
      for (let n = 0; n < REPETITIONS && !isFast(before.cost); n++) spent = await least(work, text, spent, 1);
      // Measured again: the first time, with less text, may have been a lucky one.
      const small = await least(work, before.text, Number.POSITIVE_INFINITY, 3);
      if (!isFast(Math.max(before.cost, small))) return { ratio: Math.round(spent / small), length: text.length };
    }
    before = { text, cost: spent };
  }
  return undefined;
}

const texts = Object.entries(fillers).map(([filler, fill], n) => ({
  filler,
  texts: [...LENGTHS, ...(n % LONG_EVERY === 0 ? LONG : [])].map(fill),
}));

async function examine(name: string): Promise<GrowthFault[]> {
  const work = textPaths[name] ?? lengthPaths[name] ?? controls[name];
  if (!work) throw new Error(`There is no text path "${name}"`);
  const faults: GrowthFault[] = [];
  // Patterns are compiled at their second use.
  for (let n = 0; n < 3; n++) await work(WARM_UP);
  const isShort = name in lengthPaths || name in controls;
  for (const { filler, texts: filled } of isShort ? texts.slice(0, 1) : texts) {
    send({ kind: 'filler', filler });
    const growth = await growthOf(work, filled);
    if (growth) faults.push({ filler, ...growth });
  }
  return faults;
}

const sample = 'x'.repeat(65_536);
least(walk, sample, Number.POSITIVE_INFINITY, 50).then((spent) => {
  perCharacter = spent / sample.length;
  process.on('message', (name: string) => void examine(name).then((faults) => send({ kind: 'done', faults })));
  process.on('disconnect', () => process.exit());
  send({ kind: 'ready' });
});
