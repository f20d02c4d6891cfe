import { LRUCache } from 'lru-cache';

interface Usage {
  /** When its connections were taken, oldest first. */
  takenAt: number[];
  /** The exponential moving average of the time that a mail used a connection. */
  averageMs: number;
}

const SLOW_MS = 3_000;
/** A domain counts as slow only while others are fast. When all are slow, the SMTP relay is, and limits would not help. */
const FAST_MS = 1_000;
const FAST_WINDOW_MS = 60_000;
const MAX_DOMAINS = 5_000;
/** Fewer connections are not divided. */
const MIN_SHARED = 4;

/**
 * Limits the SMTP connections of one recipient domain, so that others find a free one: while mail to others waits, a domain
 * gets about four fifths of them, and a quarter while its answers take seconds because its servers are slow.
 */
export class ConnectionShares {
  private readonly limit: number;
  private readonly slowLimit: number;
  private readonly clock: () => number;
  private lastFastAt = Number.NEGATIVE_INFINITY;
  private readonly usages = new LRUCache<string, Usage>({ max: MAX_DOMAINS });

  constructor(connections: number, clock: () => number) {
    const isShared = connections >= MIN_SHARED;
    this.limit = isShared ? connections - Math.max(1, Math.floor(connections / 5)) : connections;
    this.slowLimit = isShared ? Math.floor(connections / 4) : connections;
    this.clock = clock;
  }

  /** `isAlone`: no mail to another domain waits, so a fast domain may use all connections. */
  hasRoom(domain: string, isAlone = false): boolean {
    const usage = this.usages.get(domain);
    if (!usage || usage.takenAt.length < this.slowLimit) return true;
    if (usage.takenAt.length < this.limit) return !this.isSlow(usage);
    return isAlone && this.isFast(usage);
  }

  /** The time that a mail of a slow domain takes when there is no room for one more; 0 in all other cases. */
  delayOf(domain: string): number {
    const usage = this.usages.get(domain);
    return usage && this.isSlow(usage) && !this.hasRoom(domain) ? Math.max(usage.averageMs, SLOW_MS) : 0;
  }

  enter(domain: string): void {
    const usage = this.usages.get(domain) ?? { takenAt: [], averageMs: 0 };
    usage.takenAt.push(this.clock());
    this.usages.set(domain, usage);
  }

  leave(domain: string): void {
    const usage = this.usages.get(domain);
    const takenAt = usage?.takenAt.shift();
    if (!usage || takenAt === undefined) return;
    const now = this.clock();
    usage.averageMs = usage.averageMs * 0.7 + (now - takenAt) * 0.3;
    if (now - takenAt < FAST_MS) this.lastFastAt = now;
  }

  /** Whether its answers have been fast and none is awaited for long. A domain without an answer yet may be slow. */
  private isFast({ takenAt: [oldest = 0], averageMs }: Usage): boolean {
    return averageMs > 0 && averageMs < FAST_MS && this.clock() - oldest < FAST_MS;
  }

  private isSlow({ takenAt: [oldest], averageMs }: Usage): boolean {
    const now = this.clock();
    if (now - this.lastFastAt > FAST_WINDOW_MS) return false;
    return averageMs > SLOW_MS || (oldest !== undefined && now - oldest > SLOW_MS);
  }
}
