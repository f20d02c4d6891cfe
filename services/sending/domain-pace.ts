import { LRUCache } from 'lru-cache';
import type { DomainRates } from '../../platform/smtp/domain-rates.ts';
import type { SharedRate } from '../../platform/smtp/relays.ts';
import type { SlowedDomain } from '../campaigns/rates.ts';
import { ConnectionShares } from './connection-shares.ts';

export interface DomainPaceOptions {
  /** The most mails a second to a domain, over all workers. */
  ceilings: DomainRates;
  /** Makes the limit of a domain with a ceiling; the key is `domain/<name>`. */
  limitOf: (key: string, perSecond: number) => SharedRate;
  /** The SMTP connections of this process. */
  connections: number;
  clock?: () => number;
  /** Measures how long mails use a connection; `clock` by default. */
  connectionClock?: () => number;
}

/** Counts mails by second, to know the rate of a domain that was not slowed yet. */
interface Counter {
  second: number;
  count: number;
  before: number;
}

interface Slowdown {
  perSecond: number;
  /** The rate at the last deferral, or the highest since. The rate grows by a part of it each second. */
  reference: number;
  /** The rate before the first deferral. Once it is reached again, the domain is slowed no longer. */
  normal: number;
  nextAt: number;
  raisedAt: number;
  loweredAt: number;
}

const MAX_DOMAINS = 5_000;
const DECREASE = 0.5;
/** The part of the reference by which the rate grows in a second: 30 seconds after one deferral the rate is as before. */
const INCREASE = 1 / 60;
const MIN_PER_SECOND = 0.1;
/** What is assumed of a domain with hardly any mail. */
const MIN_NORMAL = 2;
/** Deferrals in this time after a decrease belong to mail that had left before. */
const DECREASE_INTERVAL_MS = 1_000;
/** The longest time that one accepted mail raises the rate for. */
const MAX_RAISE_MS = 1_000;
/** A domain that has deferred nothing for so long is slowed no longer. */
const FORGET_MS = 3_600_000;
/** Unused time of a slowed domain that counts later, because callers ask some milliseconds late. */
const MAX_BURST_MS = 100;
/** How soon to ask again when a domain uses its share of the connections. */
const SHARE_MS = 20;

/**
 * The pace of mail to each recipient domain. A domain that defers ("too many") gets half the rate, and a little more with
 * every second in which it accepts mail: additive increase, multiplicative decrease (AIMD), per process. Ceilings hold over
 * all processes. Other domains are not affected.
 */
export class DomainPace {
  private readonly options: DomainPaceOptions;
  private readonly clock: () => number;
  private readonly limits = new Map<string, SharedRate>();
  private readonly counters = new LRUCache<string, Counter>({ max: MAX_DOMAINS });
  private readonly slowdowns = new LRUCache<string, Slowdown>({ max: MAX_DOMAINS });
  private readonly shares: ConnectionShares;

  constructor(options: DomainPaceOptions) {
    this.options = options;
    this.clock = options.clock ?? (() => performance.now());
    this.shares = new ConnectionShares(options.connections, options.connectionClock ?? this.clock);
    for (const [domain, perSecond] of options.ceilings)
      this.limits.set(domain, options.limitOf(`domain/${domain}`, perSecond));
  }

  /**
   * Returns 0 and takes a place: a mail to this domain may begin now. Otherwise the milliseconds after which to ask again.
   * `isAlone`: no mail to another domain waits.
   */
  take(domain: string, { isAlone = false } = {}): number {
    if (!this.shares.hasRoom(domain, isAlone)) return SHARE_MS;
    const now = this.clock();
    const slowdown = this.slowdownOf(domain, now);
    if (slowdown && slowdown.nextAt > now) return slowdown.nextAt - now;
    const limit = this.limits.get(domain);
    const delay = limit?.delay() ?? 0;
    if (delay > 0) return delay;
    limit?.take();
    if (slowdown) slowdown.nextAt = Math.max(slowdown.nextAt, now - MAX_BURST_MS) + 1_000 / slowdown.perSecond;
    this.count(domain, now);
    return 0;
  }

  /** The estimated wait of one more mail. Takes nothing. */
  delayOf(domain: string): number {
    const now = this.clock();
    const slowdown = this.slowdowns.get(domain);
    const pace = slowdown ? Math.max(0, slowdown.nextAt - now) : 0;
    return Math.max(pace, this.limits.get(domain)?.estimate() ?? 0, this.shares.delayOf(domain));
  }

  /** The mails a second that the domain may get now; undefined: not limited. */
  perSecondOf(domain: string): number | undefined {
    const rates = [this.slowdowns.get(domain)?.perSecond, this.options.ceilings.get(domain)];
    const known = rates.filter((rate) => rate !== undefined);
    return known.length > 0 ? Math.min(...known) : undefined;
  }

  onAccepted(domain: string): void {
    const slowdown = this.slowdowns.get(domain);
    if (!slowdown) return;
    const now = this.clock();
    const raisedFor = Math.min(now - slowdown.raisedAt, Math.max(MAX_RAISE_MS, 1_000 / slowdown.perSecond));
    slowdown.raisedAt = now;
    slowdown.perSecond += (raisedFor / 1_000) * slowdown.reference * INCREASE;
    slowdown.reference = Math.max(slowdown.reference, slowdown.perSecond);
    if (slowdown.perSecond >= slowdown.normal) this.slowdowns.delete(domain);
  }

  /** For outcomes that concern the domain. `startedAt`: when the mail was begun, by the clock. */
  onDeferred(domain: string, startedAt = this.clock()): void {
    const now = this.clock();
    const slowdown = this.slowdownOf(domain, now);
    if (slowdown && Math.min(startedAt, now - DECREASE_INTERVAL_MS) <= slowdown.loweredAt) return;
    const reference = slowdown?.perSecond ?? Math.max(this.recentRate(domain, now), MIN_NORMAL);
    const perSecond = Math.max(MIN_PER_SECOND, reference * DECREASE);
    this.slowdowns.set(domain, {
      perSecond,
      reference,
      normal: slowdown?.normal ?? reference,
      nextAt: now + 1_000 / perSecond,
      raisedAt: now,
      loweredAt: now,
    });
  }

  /** Counts a connection that is used for the domain. */
  enter(domain: string): void {
    this.shares.enter(domain);
  }

  leave(domain: string): void {
    this.shares.leave(domain);
  }

  /** The domains that get less mail than usual, slowest first. */
  slowed(): SlowedDomain[] {
    const now = this.clock();
    const domains = [...this.slowdowns.keys()].flatMap((domain) => {
      const slowdown = this.slowdownOf(domain, now);
      return slowdown ? { domain, perSecond: slowdown.perSecond } : [];
    });
    return domains.sort((a, b) => a.perSecond - b.perSecond);
  }

  private slowdownOf(domain: string, now: number): Slowdown | undefined {
    const slowdown = this.slowdowns.get(domain);
    if (!slowdown || now - slowdown.loweredAt < FORGET_MS) return slowdown;
    this.slowdowns.delete(domain);
    return undefined;
  }

  private count(domain: string, now: number): void {
    const second = Math.floor(now / 1_000);
    const counter = this.counters.get(domain);
    if (!counter) this.counters.set(domain, { second, count: 1, before: 0 });
    else if (counter.second === second) counter.count++;
    else Object.assign(counter, { before: second - counter.second === 1 ? counter.count : 0, second, count: 1 });
  }

  /** The mails of this second or the one before, whichever had more. */
  private recentRate(domain: string, now: number): number {
    const counter = this.counters.get(domain);
    if (!counter) return 0;
    const age = Math.floor(now / 1_000) - counter.second;
    if (age === 0) return Math.max(counter.count, counter.before);
    return counter.count;
  }
}
