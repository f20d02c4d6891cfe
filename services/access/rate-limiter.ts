import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import {
  askToSettle,
  type Bucket,
  type Lease,
  type LeaseRequest,
  leaseTokens,
  type PerKey,
  RATE_CHANNEL,
  type Settlement,
  settleTokens,
} from './rate-limit.ts';

const SPARE_AT_MOST = 100;
/** How long a request waits for what lies unspent in other processes, before it is refused. */
const PATIENCE_MS = 500;
const FIRST_PAUSE_MS = 5;
const LAST_PAUSE_MS = 50;
const NO_WINDOW = '0';
/** Counted in integer columns, which must hold the ceiling as well. */
const MOST = 1_500_000_000;

export type RateCaller = 'public' | 'secret' | 'session';

export interface RateVerdict {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Until the window ends. */
  resetSeconds: number;
}

/** The part of a Listener that is needed here. */
interface Notices {
  readonly healthy: boolean;
  on(channel: string, handler: (payload: string) => void): void;
  onReset(reset: () => void): void;
}

/** What the limiter asks of the database. */
export interface RateStore {
  lease(request: LeaseRequest): Promise<Lease>;
  settle(settlement: Settlement): Promise<void>;
  ask(projectId: string): Promise<void>;
}

export const rateStore = (db: Db): RateStore => ({
  lease: (request) => leaseTokens(db, request),
  settle: (settlement) => settleTokens(db, settlement),
  ask: (projectId) => askToSettle(db, projectId),
});

interface Waiter {
  resolve(verdict: RateVerdict): void;
  reject(error: unknown): void;
}

/** The tokens of one kind of caller that this process holds. */
interface Lane {
  tokens: number;
  /** Tokens spent that the database has not been told of. */
  spent: number;
  /** Nothing more is to be had in this window. */
  closed: boolean;
  waiters: Waiter[];
  /** When those who wait are refused, although some tokens are unaccounted for. */
  deadline: number | undefined;
}

type LaneName = keyof PerKey;
/** The secret key first: it is never refused because of what a public call gets in the same round. */
const laneNames: LaneName[] = ['secret', 'public'];

const perLane = (count: (name: LaneName) => number): PerKey => ({ public: count('public'), secret: count('secret') });

const newLane = (): Lane => ({ tokens: 0, spent: 0, closed: false, waiters: [], deadline: undefined });

/** What a lease leaves for a lane: `unsettled` tokens are granted, and may lie unspent in some process. */
type Left = 'some' | 'unsettled' | 'none';

/** What this process knows of a project's window, and the tokens it holds of it. */
interface Account {
  bucket: Bucket;
  projectId: string;
  window: string;
  /** By the monotonic clock, never later than the database sees it. */
  endsAt: number;
  granted: number;
  secretGranted: number;
  lanes: Record<LaneName, Lane>;
  working: boolean;
}

/**
 * Limits calls per project and minute over all processes together: `limit` calls of all keys for the public key, `limit`
 * of its own and 1.2 times `limit` of all keys for the secret key, and `limit` for sessions. Each process holds a few
 * tokens in advance; one that finds none left asks the others to hand back theirs, so that the last one is spent too.
 */
export class RateLimiter {
  private readonly accounts: Record<Bucket, LRUCache<string, Account>> = {
    keys: new LRUCache<string, Account>({ max: 50_000 }),
    sessions: new LRUCache<string, Account>({ max: 50_000 }),
  };
  private readonly limit: number;
  private readonly ceiling: number;
  private readonly store: RateStore;
  private readonly notices: Notices;

  constructor(limit: number, store: RateStore, notices: Notices) {
    this.limit = Math.min(limit, MOST);
    this.ceiling = Math.ceil((this.limit * 6) / 5);
    this.store = store;
    this.notices = notices;
    notices.on(RATE_CHANNEL, (projectId) => this.handBack(projectId));
    // Who cannot hear that others need tokens must not sit on any.
    notices.onReset(() => {
      for (const accounts of Object.values(this.accounts))
        for (const projectId of accounts.keys()) this.handBack(projectId);
    });
  }

  /** Takes one token, from memory where it can. Rejects when the database must be asked and cannot be. */
  take(projectId: string, caller: RateCaller): RateVerdict | Promise<RateVerdict> {
    const account = this.accountOf(caller === 'session' ? 'sessions' : 'keys', projectId);
    const name = caller === 'public' ? 'public' : 'secret';
    const lane = account.lanes[name];
    if (performance.now() < account.endsAt && lane.waiters.length === 0) {
      if (lane.tokens > 0) {
        lane.spent++;
        return this.spend(account, name);
      }
      if (lane.closed) return this.verdict(account, name, false);
    }
    return new Promise((resolve, reject) => {
      lane.waiters.push({ resolve, reject });
      if (!account.working) void this.work(account);
    });
  }

  private accountOf(bucket: Bucket, projectId: string): Account {
    let account = this.accounts[bucket].get(projectId);
    if (!account) {
      account = {
        bucket,
        projectId,
        window: NO_WINDOW,
        endsAt: Number.NEGATIVE_INFINITY,
        granted: 0,
        secretGranted: 0,
        lanes: { public: newLane(), secret: newLane() },
        working: false,
      };
      this.accounts[bucket].set(projectId, account);
    }
    return account;
  }

  /** One lease at a time per project and bucket: requests that arrive meanwhile are served by the next one. */
  private async work(account: Account): Promise<void> {
    account.working = true;
    const { lanes, projectId } = account;
    try {
      for (let pause = FIRST_PAUSE_MS; laneNames.some((name) => lanes[name].waiters.length > 0); ) {
        const overdue = laneNames.filter((name) => isOverdue(lanes[name]));
        const left = await this.leaseOnce(account, overdue.includes('secret'));
        const unsettled = laneNames.filter(
          (name) => lanes[name].waiters.length > 0 && left[name] === 'unsettled' && !overdue.includes(name),
        );
        for (const name of laneNames) {
          if (unsettled.includes(name)) lanes[name].deadline ??= performance.now() + PATIENCE_MS;
          else lanes[name].deadline = undefined;
          if (left[name] !== 'some' && !unsettled.includes(name)) this.refuseAll(account, name);
        }
        if (unsettled.length === 0) continue;
        // Each time anew: a grant that was on its way to another process arrives there after the first call.
        await this.store.ask(projectId);
        await sleep(pause);
        pause = Math.min(pause * 2, LAST_PAUSE_MS);
      }
    } catch (error) {
      for (const name of laneNames) {
        lanes[name].deadline = undefined;
        for (const waiter of lanes[name].waiters.splice(0)) waiter.reject(error);
      }
    } finally {
      account.working = false;
    }
  }

  private async leaseOnce(account: Account, writeOffPublic: boolean): Promise<Record<LaneName, Left>> {
    const { bucket, projectId, window, lanes } = account;
    const { limit, ceiling } = this;
    const sentAt = performance.now();
    const waiting = perLane((name) => lanes[name].waiters.length);
    const spent = perLane((name) => lanes[name].spent);
    const spareAtMost = this.notices.healthy ? SPARE_AT_MOST : 0;
    for (const name of laneNames) lanes[name].spent = 0;
    const lease = await this.store.lease({
      ...{ bucket, projectId, limit, ceiling, waiting, spareAtMost, window, spent, writeOffPublic },
    });
    if (lease.window !== account.window) {
      account.window = lease.window;
      for (const name of laneNames) Object.assign(lanes[name], { tokens: 0, spent: 0, closed: false });
    }
    // The database read its clock after `sentAt`, so this is at or before the true end.
    account.endsAt = sentAt + lease.msLeft;
    account.granted = lease.granted;
    account.secretGranted = lease.secretGranted;
    for (const name of laneNames) lanes[name].tokens += lease.grant[name];
    for (const name of laneNames) this.serve(account, name, Math.min(lease.grant[name], waiting[name]));
    const leftOf = (name: LaneName, allSpent: boolean): Left => {
      if (allSpent) return 'none';
      return lease.grant[name] < waiting[name] ? 'unsettled' : 'some';
    };
    return {
      public: leftOf('public', lease.settled >= limit),
      secret: leftOf('secret', lease.secretSettled >= limit || lease.settled >= ceiling),
    };
  }

  /** The first `settled` of those who wait are counted as spent by the database already. */
  private serve(account: Account, name: LaneName, settled: number): void {
    const lane = account.lanes[name];
    const served = lane.waiters.splice(0, lane.tokens);
    lane.spent += Math.max(0, served.length - settled);
    for (const waiter of served) waiter.resolve(this.spend(account, name));
  }

  private spend(account: Account, name: LaneName): RateVerdict {
    account.lanes[name].tokens--;
    return this.verdict(account, name, true);
  }

  private refuseAll(account: Account, name: LaneName): void {
    const lane = account.lanes[name];
    if (lane.waiters.length > 0) lane.closed = true;
    for (const waiter of lane.waiters.splice(0)) waiter.resolve(this.verdict(account, name, false));
  }

  /** Describes the limit that has the fewest calls left. */
  private verdict(account: Account, name: LaneName, allowed: boolean): RateVerdict {
    const { granted, secretGranted, lanes } = account;
    const used = granted - lanes.public.tokens - lanes.secret.tokens;
    let { limit } = this;
    let remaining = limit - used;
    if (name === 'secret') {
      remaining = limit - secretGranted + lanes.secret.tokens;
      if (this.ceiling - used < remaining) {
        limit = this.ceiling;
        remaining = limit - used;
      }
    }
    return {
      allowed,
      limit,
      remaining: allowed ? Math.max(0, remaining) : 0,
      resetSeconds: Math.max(1, Math.ceil((account.endsAt - performance.now()) / 1000)),
    };
  }

  private handBack(projectId: string): void {
    for (const accounts of Object.values(this.accounts)) {
      const account = accounts.peek(projectId);
      if (account) this.handBackOf(account);
    }
  }

  /** If the report is lost, fewer pass than might; never more. */
  private handBackOf(account: Account): void {
    const { bucket, projectId, window, lanes } = account;
    const unspent = perLane((name) => lanes[name].tokens);
    const spent = perLane((name) => lanes[name].spent);
    if (unspent.public + unspent.secret + spent.public + spent.secret === 0) return;
    account.granted -= unspent.public + unspent.secret;
    account.secretGranted -= unspent.secret;
    for (const name of laneNames) Object.assign(lanes[name], { tokens: 0, spent: 0 });
    this.store.settle({ bucket, projectId, window, unspent, spent }).catch(() => {});
  }
}

const isOverdue = ({ deadline }: Lane): boolean => deadline !== undefined && performance.now() >= deadline;
