/** Bounds how many bytes are in memory at a time. Callers wait in order; one that exceeds the budget alone gets all of it. */
export class ByteBudget {
  private readonly max: number;
  private used = 0;
  private readonly waiting: { bytes: number; enter: () => void }[] = [];

  constructor(max: number) {
    this.max = max;
  }

  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const taken = Math.min(bytes, this.max);
    if (this.waiting.length > 0 || this.used + taken > this.max)
      await new Promise<void>((enter) => this.waiting.push({ bytes: taken, enter }));
    else this.used += taken;
    try {
      return await work();
    } finally {
      this.used -= taken;
      this.admit();
    }
  }

  private admit(): void {
    for (let next = this.waiting[0]; next && this.used + next.bytes <= this.max; next = this.waiting[0]) {
      this.used += next.bytes;
      this.waiting.shift();
      next.enter();
    }
  }
}
