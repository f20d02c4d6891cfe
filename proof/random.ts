// Random choices that a seed repeats.
import { createHash } from 'node:crypto';

export interface SeededRandom {
  /** At least 0, less than 1. */
  next(): number;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  /** Picks by weight. */
  weighted<T extends string>(weights: Partial<Record<T, number>>): T;
}

/** Mulberry32. `name` gives each user of a seed a sequence of its own. */
export function seededRandom(seed: number, name: string): SeededRandom {
  let state = createHash('sha256').update(`${seed}/${name}`).digest().readUInt32LE(0);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick: <T>(from: readonly T[]): T => {
      const one = from[between(0, from.length - 1)];
      if (one === undefined) throw new Error('Nothing to pick from.');
      return one;
    },
    weighted: <T extends string>(weights: Partial<Record<T, number>>): T => {
      const entries = Object.entries(weights) as [T, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      throw new Error('Nothing to pick from.');
    },
  };
}

/** A number from 0 to 99 that depends on the text and the seed alone. */
export const percentOf = (seed: number, text: string): number =>
  createHash('sha256').update(`${seed}/${text}`).digest().readUInt32LE(0) % 100;
