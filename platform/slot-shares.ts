import { LRUCache } from 'lru-cache';

interface DomainUsage {
  /** The times at which its slots were taken, oldest first. */
  takenAt: number[];
  /** The exponential moving average of the time that a slot was used. */
  averageMs: number;
}

const SLOW_MS = 3_000;
/** A domain counts as slow only while others are fast. When all are slow, the SMTP relay is, and limits would not help. */
const FAST_MS = 1_000;
const FAST_WINDOW_MS = 60_000;
const MAX_DOMAINS = 5_000;
/** Fewer slots are not divided. */
const MIN_SHARED_SLOTS = 4;

/**
 * Limits the slots of one recipient domain, so that others always find a free one: a domain gets about four fifths of the
 * slots, and a quarter while its answers take seconds because its servers are slow.
 */
export class DomainShares {
  private readonly limit: number;
  private readonly slowLimit: number;
  private lastFastAt = Number.NEGATIVE_INFINITY;
  private readonly usages = new LRUCache<string, DomainUsage>({ max: MAX_DOMAINS });

  constructor(slots: number) {
    this.limit = slots < MIN_SHARED_SLOTS ? slots : slots - Math.max(1, Math.floor(slots / 5));
    this.slowLimit = slots < MIN_SHARED_SLOTS ? slots : Math.floor(slots / 4);
  }

  hasRoom(domain: string | undefined): boolean {
    const usage = domain === undefined ? undefined : this.usages.get(domain);
    if (!usage || usage.takenAt.length < this.slowLimit) return true;
    return usage.takenAt.length < this.limit && !this.isSlowUsage(usage);
  }

  isSlow(domain: string): boolean {
    const usage = this.usages.get(domain);
    return usage !== undefined && this.isSlowUsage(usage);
  }

  enter(domain: string | undefined): void {
    if (domain === undefined) return;
    const usage = this.usages.get(domain) ?? { takenAt: [], averageMs: 0 };
    usage.takenAt.push(performance.now());
    this.usages.set(domain, usage);
  }

  leave(domain: string | undefined): void {
    const usage = domain === undefined ? undefined : this.usages.get(domain);
    const takenAt = usage?.takenAt.shift();
    if (!usage || takenAt === undefined) return;
    const [now, durationMs] = [performance.now(), performance.now() - takenAt];
    usage.averageMs = usage.averageMs * 0.7 + durationMs * 0.3;
    if (durationMs < FAST_MS) this.lastFastAt = now;
  }

  private isSlowUsage({ takenAt: [oldest], averageMs }: DomainUsage): boolean {
    const now = performance.now();
    if (now - this.lastFastAt > FAST_WINDOW_MS) return false;
    return averageMs > SLOW_MS || (oldest !== undefined && now - oldest > SLOW_MS);
  }
}
