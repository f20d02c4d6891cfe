/** One row of the table: ours beside a bare baseline that was measured in the same run. */
export interface Measure {
  what: string;
  unit: string;
  ours: number;
  baseline: number;
  /** Ours to baseline: the figure to compare, because machines differ and are noisy. */
  ratio: number;
  /** The target of the ratio, e.g. `>= 0.7`. */
  aim?: string;
}

export interface Bench {
  name: string;
  /** What is compared, in one sentence. */
  about: string;
  /** Takes too long, or repeats others: runs only when it is named. */
  onlyByName?: boolean;
  run(progress: (line: string) => void): Promise<Measure[]>;
}

export function measure(what: string, unit: string, ours: number, baseline: number, aim?: string): Measure {
  return { what, unit, ours: round(ours), baseline: round(baseline), ratio: round(ours / baseline), aim };
}

/** Returns the middle value, so that one slow round on a shared machine does not count. */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const low = sorted[Math.max(0, middle - 1)] ?? Number.NaN;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 ? high : (low + high) / 2;
}

const round = (value: number): number => Number(value.toPrecision(3));
