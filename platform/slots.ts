interface Waiter {
  priority: number;
  go: () => void;
}

/**
 * A fixed number of slots. Whoever waits is served by priority (0 first), and within one in the order of asking, so a
 * user that asks for one slot at a time never holds the others up for longer than a round.
 */
export class Slots {
  readonly size: number;
  private free: number;
  private readonly waiters: Waiter[] = [];

  constructor(size: number) {
    this.size = size;
    this.free = size;
  }

  /** Resolves with false when the signal comes before a slot is free. */
  async take(priority = 0, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return false;
    if (this.free > 0) {
      this.free--;
      return true;
    }
    return new Promise((resolve) => {
      const giveUp = () => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        resolve(false);
      };
      const waiter: Waiter = {
        priority,
        go: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve(true);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      const after = this.waiters.findIndex((other) => other.priority > priority);
      this.waiters.splice(after < 0 ? this.waiters.length : after, 0, waiter);
    });
  }

  give(): void {
    const next = this.waiters.shift();
    if (next) next.go();
    else this.free++;
  }
}
