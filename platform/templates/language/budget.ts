export type LimitReason = 'time' | 'size';

/** Thrown when a template exceeds the budget of a mail. */
export class LimitError extends Error {
  readonly reason: LimitReason;

  constructor(reason: LimitReason, message: string) {
    super(message);
    this.name = 'LimitError';
    this.reason = reason;
  }
}

/** At worst 0.2 seconds of work; a usual mail takes a thousandth of it. */
const WORK = 1_000_000;
/** The longest value, and the most output beyond the length of the source. */
const MAX_TEXT = 2 * 1024 * 1024;
const CHARACTERS_PER_STEP = 16;
const MAX_NESTED_CALLS = 50;

const tooLarge = () => new LimitError('size', 'the template output exceeds the maximum size of an email');

/**
 * The work and memory that one rendering may still use. Every operation that repeats or grows spends from it beforehand,
 * in proportion to its cost, so that a hostile template ends after a fixed amount of work on any machine.
 */
export class Budget {
  private remaining = WORK;
  private depth = 0;
  private readonly maxOutput: number;

  constructor(sourceLength: number) {
    this.maxOutput = sourceLength + MAX_TEXT;
  }

  spend(steps: number): void {
    this.remaining -= steps;
    if (this.remaining < 0) throw new LimitError('time', 'the template takes too long to render');
  }

  /** Pays for reading a text of this length. */
  scan(length: number): void {
    this.spend(1 + length / CHARACTERS_PER_STEP);
  }

  /** Pays for searching one text in another: in the worst case it is compared at each position. */
  search(length: number, wanted: number): void {
    this.scan(length + (length * wanted) / CHARACTERS_PER_STEP);
  }

  /** Pays for writing `added` characters after `length` others. */
  write(length: number, added: number): void {
    if (length + added > this.maxOutput) throw tooLarge();
    this.scan(added);
  }

  /** Pays for creating or processing a value of this length. */
  make(length: number): void {
    if (length > MAX_TEXT) throw tooLarge();
    this.scan(length);
  }

  text(value: string): string {
    this.make(value.length);
    return value;
  }

  nested<T>(work: () => T): T {
    if (++this.depth > MAX_NESTED_CALLS)
      throw new LimitError('time', 'the macros of the template call each other endlessly');
    try {
      return work();
    } finally {
      this.depth--;
    }
  }
}
