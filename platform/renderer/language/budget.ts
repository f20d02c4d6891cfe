export type LimitReason = 'time' | 'size';

/** A template asked for more than a mail may cost. */
export class LimitError extends Error {
  readonly reason: LimitReason;

  constructor(reason: LimitReason, message: string) {
    super(message);
    this.name = 'LimitError';
    this.reason = reason;
  }
}

/** A tenth of a second or two at the worst; a usual mail takes a thousandth of it. */
const WORK = 1_000_000;
/** Of one value, and of what a template makes beyond what was written. */
const MAX_TEXT = 2 * 1024 * 1024;
const CHARACTERS_PER_STEP = 16;
const MAX_NESTED_CALLS = 50;

const tooLarge = () => new LimitError('size', 'the template makes a text larger than a mail may be');

/**
 * What one rendering may still do. Everything that repeats or grows pays here, in proportion to the time and memory it
 * takes, before it is done; so a hostile template ends after a fixed amount of work, on any machine.
 */
export class Budget {
  private left = WORK;
  private calls = 0;
  private readonly maxOutput: number;

  constructor(sourceLength: number) {
    this.maxOutput = sourceLength + MAX_TEXT;
  }

  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new LimitError('time', 'the template does more work than a mail may take');
  }

  /** Text is about to be gone through. */
  scan(length: number): void {
    this.spend(1 + length / CHARACTERS_PER_STEP);
  }

  /** One text is about to be searched for in another: in the worst case it is compared at each place. */
  search(length: number, wanted: number): void {
    this.scan(length + (length * wanted) / CHARACTERS_PER_STEP);
  }

  /** `added` characters are about to be written after `length` others. */
  write(length: number, added: number): void {
    if (length + added > this.maxOutput) throw tooLarge();
    this.scan(added);
  }

  /** A value of this length is about to be made, or to be worked on. */
  make(length: number): void {
    if (length > MAX_TEXT) throw tooLarge();
    this.scan(length);
  }

  text(value: string): string {
    this.make(value.length);
    return value;
  }

  nested<T>(work: () => T): T {
    if (++this.calls > MAX_NESTED_CALLS)
      throw new LimitError('time', 'macros of the template call each other endlessly');
    try {
      return work();
    } finally {
      this.calls--;
    }
  }
}
