import type { RateLimit } from './rate-limit.ts';

/** An unused permit expires after this long, because accumulated permits would cause a burst. */
const PERMIT_MS = 50;

/** Permits to send one mail, of the rate limit that all processes share. Without a limit there are always some. */
export class Permits {
  private readonly limit: RateLimit | undefined;
  private readonly onPermit: () => void;
  private readonly waiting: () => number;
  private grantedAt = Number.NEGATIVE_INFINITY;
  private isAsking = false;

  /** `onPermit` is called when a permit has arrived; `waiting` counts the mails that wait for one. */
  constructor(limit: RateLimit | undefined, onPermit: () => void, waiting: () => number) {
    this.limit = limit;
    this.onPermit = onPermit;
    this.waiting = waiting;
  }

  /** Whether a mail may leave now. Asks for a permit otherwise. */
  areFree(): boolean {
    if (!this.limit || performance.now() - this.grantedAt < PERMIT_MS) return true;
    if (!this.isAsking) void this.ask(this.limit);
    return false;
  }

  use(): void {
    this.grantedAt = Number.NEGATIVE_INFINITY;
  }

  private async ask(limit: RateLimit): Promise<void> {
    this.isAsking = true;
    await limit.next(this.waiting());
    this.isAsking = false;
    this.grantedAt = performance.now();
    this.onPermit();
  }
}
