import { Shares } from './slot-shares.ts';

interface Waiter {
  priority: number;
  domain: string | undefined;
  go: () => void;
}

/** Says when one more may begin. */
export interface Pace {
  /** `wanted` is how many wait for it by now. */
  next(wanted: number): Promise<void>;
}

/** Leave to begin that was not used in this time has lapsed: saved up, it would make a burst. */
const LEAVE_MS = 50;

/**
 * A fixed number of slots. Whoever waits is served by priority (0 first), and within one in the order of asking, so a
 * user that asks for one slot at a time never holds the others up for longer than a round. Where there is a pace, a slot
 * is given only with leave of it, and then to whoever is first by that time. Of those that say which domain their slot is
 * for, none gets all of them: see `Shares`.
 */
export class Slots {
  readonly size: number;
  private free: number;
  private readonly waiters: Waiter[] = [];
  private readonly shares: Shares;
  private readonly pace: Pace | undefined;
  private asking = false;
  private leaveAt = Number.NEGATIVE_INFINITY;

  constructor(size: number, pace?: Pace) {
    this.size = size;
    this.free = size;
    this.pace = pace;
    this.shares = new Shares(size);
  }

  /** Resolves with false when the signal comes before a slot is free. */
  async take(priority = 0, signal?: AbortSignal, domain?: string): Promise<boolean> {
    if (signal?.aborted) return false;
    return new Promise((resolve) => {
      const giveUp = () => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        resolve(false);
      };
      const waiter: Waiter = {
        priority,
        domain,
        go: () => {
          signal?.removeEventListener('abort', giveUp);
          resolve(true);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      const after = this.waiters.findIndex((other) => other.priority > priority);
      this.waiters.splice(after < 0 ? this.waiters.length : after, 0, waiter);
      this.serve();
    });
  }

  /** With the same domain as it was taken for. */
  give(domain?: string): void {
    this.free++;
    this.shares.leave(domain);
    this.serve();
  }

  /** Whether a slot may go from one mail of its user to another, for this domain: nobody else waits for any. */
  mayPass(domain?: string): boolean {
    return !this.pace && this.waiters.length === 0 && this.shares.hasRoom(domain);
  }

  pass(from: string | undefined, to: string | undefined): void {
    this.shares.leave(from);
    this.shares.enter(to);
  }

  /** The domain is slow, and has all the slots that a slow one gets: mail for it is better put off than queued here. */
  isCrowded(domain: string): boolean {
    return this.shares.isSlow(domain) && !this.shares.hasRoom(domain);
  }

  private serve(): void {
    while (this.free > 0) {
      const at = this.waiters.findIndex(({ domain }) => this.shares.hasRoom(domain));
      const waiter = this.waiters[at];
      if (!waiter || !this.hasLeave()) return;
      this.leaveAt = Number.NEGATIVE_INFINITY;
      this.waiters.splice(at, 1);
      this.free--;
      this.shares.enter(waiter.domain);
      waiter.go();
    }
  }

  /** Asks for it where there is none, and comes back to serve with it. */
  private hasLeave(): boolean {
    if (!this.pace || performance.now() - this.leaveAt < LEAVE_MS) return true;
    if (!this.asking) void this.askLeave(this.pace);
    return false;
  }

  private async askLeave(pace: Pace): Promise<void> {
    this.asking = true;
    await pace.next(this.waiters.length);
    this.asking = false;
    this.leaveAt = performance.now();
    this.serve();
  }
}
