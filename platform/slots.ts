import { LRUCache } from 'lru-cache';

interface Waiter {
  priority: number;
  domain: string | undefined;
  resume: () => void;
}

/** A rate limit on taking slots. */
export interface SlotPace {
  /** Resolves when the next slot may be taken. `waiting` is the number of waiting callers. */
  next(waiting: number): Promise<void>;
}

/** A permit expires when it is not used in this time, because accumulated permits would cause a burst. */
const PERMIT_MS = 50;

/**
 * A fixed number of slots. Waiting callers are served by priority (0 first) and then in order of arrival, so that a caller
 * that takes one slot at a time delays others by one round at most. With a pace, a slot also needs a permit, which goes to
 * the caller that is first when it arrives. Slots taken for a domain are limited by `DomainShares`.
 */
export class Slots {
  readonly size: number;
  private free: number;
  private readonly waiters: Waiter[] = [];
  private readonly shares: DomainShares;
  private readonly pace: SlotPace | undefined;
  private isAwaitingPermit = false;
  private permitAt = Number.NEGATIVE_INFINITY;

  constructor(size: number, pace?: SlotPace) {
    this.size = size;
    this.free = size;
    this.pace = pace;
    this.shares = new DomainShares(size);
  }

  /** Resolves with false when the signal aborts before a slot is free. */
  async take(priority = 0, signal?: AbortSignal, domain?: string): Promise<boolean> {
    if (signal?.aborted) return false;
    return new Promise((resolve) => {
      const cancel = () => {
        this.waiters.splice(this.waiters.indexOf(waiter), 1);
        resolve(false);
      };
      const waiter: Waiter = {
        priority,
        domain,
        resume: () => {
          signal?.removeEventListener('abort', cancel);
          resolve(true);
        },
      };
      signal?.addEventListener('abort', cancel, { once: true });
      const index = this.waiters.findIndex((other) => other.priority > priority);
      this.waiters.splice(index < 0 ? this.waiters.length : index, 0, waiter);
      this.serve();
    });
  }

  /** Releases a slot. `domain` must be the one that it was taken for. */
  give(domain?: string): void {
    this.free++;
    this.shares.leave(domain);
    this.serve();
  }

  /** Returns whether a caller may reuse its slot for another mail, to this domain: no other caller waits. */
  mayPass(domain?: string): boolean {
    return !this.pace && this.waiters.length === 0 && this.shares.hasRoom(domain);
  }

  /** Reassigns a slot from one domain to another. */
  pass(from: string | undefined, to: string | undefined): void {
    this.shares.leave(from);
    this.shares.enter(to);
  }

  /** Returns whether the domain is slow and uses its whole share: mail to it should be postponed instead of queued. */
  isCrowded(domain: string): boolean {
    return this.shares.isSlow(domain) && !this.shares.hasRoom(domain);
  }

  private serve(): void {
    while (this.free > 0) {
      const index = this.waiters.findIndex(({ domain }) => this.shares.hasRoom(domain));
      const waiter = this.waiters[index];
      if (!waiter || !this.hasPermit()) return;
      this.permitAt = Number.NEGATIVE_INFINITY;
      this.waiters.splice(index, 1);
      this.free--;
      this.shares.enter(waiter.domain);
      waiter.resume();
    }
  }

  /** Requests a permit when there is none; its arrival calls `serve` again. */
  private hasPermit(): boolean {
    if (!this.pace || performance.now() - this.permitAt < PERMIT_MS) return true;
    if (!this.isAwaitingPermit) void this.awaitPermit(this.pace);
    return false;
  }

  private async awaitPermit(pace: SlotPace): Promise<void> {
    this.isAwaitingPermit = true;
    await pace.next(this.waiters.length);
    this.isAwaitingPermit = false;
    this.permitAt = performance.now();
    this.serve();
  }
}

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
class DomainShares {
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

interface KeyState {
  slots: Slots;
  /** The number of calls that have a slot or wait for one. */
  users: number;
}

/**
 * A fixed number of slots, of which one key, such as a project, gets at most `perKey`. A call takes a slot of its key
 * first, so that a key occupies at most `perKey` places in the queue that all keys share.
 */
export class KeyedSlots {
  private readonly shared: Slots;
  private readonly perKey: number;
  private readonly keys = new Map<string, KeyState>();

  constructor(size: number, perKey: number) {
    this.shared = new Slots(size);
    this.perKey = perKey;
  }

  /** Resolves with false when the signal aborts before a slot is free. */
  async take(key: string, signal?: AbortSignal): Promise<boolean> {
    const state = this.keys.get(key) ?? { slots: new Slots(this.perKey), users: 0 };
    this.keys.set(key, state);
    state.users++;
    if (!(await state.slots.take(0, signal))) {
      this.leave(key, state);
      return false;
    }
    if (await this.shared.take(0, signal)) return true;
    state.slots.give();
    this.leave(key, state);
    return false;
  }

  give(key: string): void {
    const state = this.keys.get(key);
    if (!state) return;
    this.shared.give();
    state.slots.give();
    this.leave(key, state);
  }

  private leave(key: string, state: KeyState): void {
    state.users--;
    if (state.users === 0) this.keys.delete(key);
  }
}
