import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import type { KeyKind } from './keys.ts';
import {
  type Bucket,
  type LeaseRequest,
  leaseTokens,
  type PerKey,
  RATE_CHANNEL,
  type RateLimitLease,
  requestReturns,
  returnTokens,
  type TokenReturn,
} from './rate-limit.ts';

const MAX_SPARE = 100;
const MAX_WAIT_MS = 500;
const FIRST_PAUSE_MS = 5;
const LAST_PAUSE_MS = 50;
const NO_WINDOW = '0';
/** The columns are 32-bit integers, which must fit the ceiling (1.2 times the limit) as well. */
const MAX_LIMIT = 1_500_000_000;

export type RateCaller = 'public' | 'secret' | 'session';

export interface RateDecision {
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Seconds until the window ends. */
  resetSeconds: number;
}

/** The part of a Listener that the limiter needs. */
interface Notifications {
  readonly healthy: boolean;
  on(channel: string, handler: (payload: string) => void): void;
  onReset(reset: () => void): void;
}

/** The limiter's access to the database. */
export interface RateStore {
  lease(request: LeaseRequest): Promise<RateLimitLease>;
  returnTokens(tokens: TokenReturn): Promise<void>;
  requestReturns(projectId: string): Promise<void>;
}

export const rateStore = (db: Db): RateStore => ({
  lease: (request) => leaseTokens(db, request),
  returnTokens: (tokens) => returnTokens(db, tokens),
  requestReturns: (projectId) => requestReturns(db, projectId),
});

export interface RateLimiterOptions {
  /** How long a request waits for unspent tokens of other processes before it is refused. */
  maxWaitMs?: number;
  /** In milliseconds. */
  clock?: () => number;
}

interface Waiter {
  resolve(decision: RateDecision): void;
  reject(error: unknown): void;
}

/** The tokens that this process has leased for one kind of key. */
interface TokenPool {
  tokens: number;
  /** Tokens spent and not reported to the database yet. */
  spent: number;
  /** No token is left in this window. */
  closed: boolean;
  waiters: Waiter[];
  /** When waiting requests are refused although other processes may hold unspent tokens. */
  deadline: number | undefined;
}

/** The secret key first: public calls of the same round cannot take its tokens. */
const keyKinds: KeyKind[] = ['secret', 'public'];

const perKind = (count: (name: KeyKind) => number): PerKey => ({ public: count('public'), secret: count('secret') });

const newPool = (): TokenPool => ({ tokens: 0, spent: 0, closed: false, waiters: [], deadline: undefined });

/** What is left after a lease. `unreturned`: all tokens are granted, and another process may hold unspent ones. */
type Left = 'some' | 'unreturned' | 'none';

/** A project's window as this process knows it, and the tokens leased from it. */
interface ProjectWindow {
  bucket: Bucket;
  projectId: string;
  window: string;
  /** By the monotonic clock; never later than in the database. */
  endsAt: number;
  granted: number;
  secretGranted: number;
  pools: Record<KeyKind, TokenPool>;
  leasing: boolean;
  /** Ends with the last statement about this window. They run one by one, so that `granted` is what the last one left. */
  lastStatement: Promise<unknown>;
}

/**
 * Limits calls per project and minute over all processes: the public key to `limit` calls of all keys, the secret key
 * to `limit` of its own and 1.2 times `limit` of all keys, sessions to `limit`. Sessions that call routes of no project
 * are limited per user: the user's id then takes the place of the project's. Each process leases a few tokens in
 * advance; one that finds none left asks the others to return theirs, so that the last token is spent too.
 */
export class RateLimiter {
  private readonly windows: Record<Bucket, LRUCache<string, ProjectWindow>> = {
    keys: new LRUCache<string, ProjectWindow>({ max: 50_000 }),
    sessions: new LRUCache<string, ProjectWindow>({ max: 50_000 }),
  };
  private readonly limit: number;
  private readonly ceiling: number;
  private readonly store: RateStore;
  private readonly notifications: Notifications;
  private readonly maxWaitMs: number;
  private readonly clock: () => number;

  constructor(
    limit: number,
    store: RateStore,
    notifications: Notifications,
    { maxWaitMs = MAX_WAIT_MS, clock = () => performance.now() }: RateLimiterOptions = {},
  ) {
    this.maxWaitMs = maxWaitMs;
    this.clock = clock;
    this.limit = Math.min(limit, MAX_LIMIT);
    this.ceiling = Math.ceil((this.limit * 6) / 5);
    this.store = store;
    this.notifications = notifications;
    notifications.on(RATE_CHANNEL, (projectId) => this.returnUnspent(projectId));
    // A process that gets no notifications must not keep tokens that others ask for.
    notifications.onReset(() => {
      for (const windows of Object.values(this.windows))
        for (const projectId of windows.keys()) this.returnUnspent(projectId);
    });
  }

  /** Takes one token, from memory if possible. Rejects when the database is needed and fails. */
  take(projectId: string, caller: RateCaller): RateDecision | Promise<RateDecision> {
    const projectWindow = this.windowOf(caller === 'session' ? 'sessions' : 'keys', projectId);
    const name = caller === 'public' ? 'public' : 'secret';
    const pool = projectWindow.pools[name];
    if (this.clock() < projectWindow.endsAt && pool.waiters.length === 0) {
      if (pool.tokens > 0) {
        pool.spent++;
        return this.spend(projectWindow, name);
      }
      if (pool.closed) return this.decision(projectWindow, name, false);
    }
    return new Promise((resolve, reject) => {
      pool.waiters.push({ resolve, reject });
      if (!projectWindow.leasing) void this.leaseUntilServed(projectWindow);
    });
  }

  private windowOf(bucket: Bucket, projectId: string): ProjectWindow {
    let projectWindow = this.windows[bucket].get(projectId);
    if (!projectWindow) {
      projectWindow = {
        bucket,
        projectId,
        window: NO_WINDOW,
        endsAt: Number.NEGATIVE_INFINITY,
        granted: 0,
        secretGranted: 0,
        pools: { public: newPool(), secret: newPool() },
        leasing: false,
        lastStatement: Promise.resolve(),
      };
      this.windows[bucket].set(projectId, projectWindow);
    }
    return projectWindow;
  }

  /** Runs one lease at a time per project and bucket; requests that arrive meanwhile are served by the next. */
  private async leaseUntilServed(projectWindow: ProjectWindow): Promise<void> {
    projectWindow.leasing = true;
    const { pools, projectId } = projectWindow;
    try {
      for (let pause = FIRST_PAUSE_MS; keyKinds.some((name) => pools[name].waiters.length > 0); ) {
        const overdue = keyKinds.filter((name) => this.isOverdue(pools[name]));
        const left = await inOrder(projectWindow, () => this.leaseOnce(projectWindow, overdue.includes('secret')));
        const unreturned = keyKinds.filter(
          (name) => pools[name].waiters.length > 0 && left[name] === 'unreturned' && !overdue.includes(name),
        );
        for (const name of keyKinds) {
          if (unreturned.includes(name)) pools[name].deadline ??= this.clock() + this.maxWaitMs;
          else pools[name].deadline = undefined;
          if (left[name] !== 'some' && !unreturned.includes(name)) this.refuseAll(projectWindow, name);
        }
        if (unreturned.length === 0) continue;
        // Repeated in every round: a grant may reach another process only after the first notification.
        await this.store.requestReturns(projectId);
        await sleep(pause);
        pause = Math.min(pause * 2, LAST_PAUSE_MS);
      }
    } catch (error) {
      for (const name of keyKinds) {
        pools[name].deadline = undefined;
        for (const waiter of pools[name].waiters.splice(0)) waiter.reject(error);
      }
    } finally {
      projectWindow.leasing = false;
    }
  }

  private async leaseOnce(projectWindow: ProjectWindow, writeOffPublic: boolean): Promise<Record<KeyKind, Left>> {
    const { bucket, projectId, window, pools } = projectWindow;
    const { limit, ceiling } = this;
    const sentAt = this.clock();
    const waiting = perKind((name) => pools[name].waiters.length);
    const spent = perKind((name) => pools[name].spent);
    const spareAtMost = this.notifications.healthy ? MAX_SPARE : 0;
    for (const name of keyKinds) pools[name].spent = 0;
    const lease = await this.store.lease({
      bucket,
      projectId,
      limit,
      ceiling,
      waiting,
      spareAtMost,
      window,
      spent,
      writeOffPublic,
    });
    if (lease.window !== projectWindow.window) {
      projectWindow.window = lease.window;
      for (const name of keyKinds) Object.assign(pools[name], { tokens: 0, spent: 0, closed: false });
    }
    // The database read its clock after `sentAt`, so this is never later than the real end.
    projectWindow.endsAt = sentAt + lease.msLeft;
    projectWindow.granted = lease.granted;
    projectWindow.secretGranted = lease.secretGranted;
    for (const name of keyKinds) pools[name].tokens += lease.grant[name];
    for (const name of keyKinds) this.serve(projectWindow, name, Math.min(lease.grant[name], waiting[name]));
    const leftOf = (name: KeyKind, allSpent: boolean): Left => {
      if (allSpent) return 'none';
      return lease.grant[name] < waiting[name] ? 'unreturned' : 'some';
    };
    return {
      public: leftOf('public', lease.settled >= limit),
      secret: leftOf('secret', lease.secretSettled >= limit || lease.settled >= ceiling),
    };
  }

  /** Serves waiting requests. The database has counted the first `settled` of them as spent. */
  private serve(projectWindow: ProjectWindow, name: KeyKind, settled: number): void {
    const pool = projectWindow.pools[name];
    const served = pool.waiters.splice(0, pool.tokens);
    pool.spent += Math.max(0, served.length - settled);
    for (const waiter of served) waiter.resolve(this.spend(projectWindow, name));
  }

  private spend(projectWindow: ProjectWindow, name: KeyKind): RateDecision {
    projectWindow.pools[name].tokens--;
    return this.decision(projectWindow, name, true);
  }

  private refuseAll(projectWindow: ProjectWindow, name: KeyKind): void {
    const pool = projectWindow.pools[name];
    if (pool.waiters.length > 0) pool.closed = true;
    for (const waiter of pool.waiters.splice(0)) waiter.resolve(this.decision(projectWindow, name, false));
  }

  /** Reports the limit with the fewest calls left. */
  private decision(projectWindow: ProjectWindow, name: KeyKind, allowed: boolean): RateDecision {
    const { granted, secretGranted, pools } = projectWindow;
    const used = granted - pools.public.tokens - pools.secret.tokens;
    let { limit } = this;
    let remaining = limit - used;
    if (name === 'secret') {
      remaining = limit - secretGranted + pools.secret.tokens;
      if (this.ceiling - used < remaining) {
        limit = this.ceiling;
        remaining = limit - used;
      }
    }
    return {
      allowed,
      limit,
      remaining: allowed ? Math.max(0, remaining) : 0,
      resetSeconds: Math.max(1, Math.ceil((projectWindow.endsAt - this.clock()) / 1000)),
    };
  }

  private isOverdue({ deadline }: TokenPool): boolean {
    return deadline !== undefined && this.clock() >= deadline;
  }

  private returnUnspent(projectId: string): void {
    for (const windows of Object.values(this.windows)) {
      const projectWindow = windows.peek(projectId);
      // If this is lost, fewer calls pass than allowed, never more.
      if (projectWindow) inOrder(projectWindow, () => this.returnUnspentOf(projectWindow)).catch(() => {});
    }
  }

  private async returnUnspentOf(projectWindow: ProjectWindow): Promise<void> {
    const { bucket, projectId, window, pools } = projectWindow;
    const unspent = perKind((name) => pools[name].tokens);
    const spent = perKind((name) => pools[name].spent);
    if (unspent.public + unspent.secret + spent.public + spent.secret === 0) return;
    projectWindow.granted -= unspent.public + unspent.secret;
    projectWindow.secretGranted -= unspent.secret;
    for (const name of keyKinds) Object.assign(pools[name], { tokens: 0, spent: 0 });
    await this.store.returnTokens({ bucket, projectId, window, unspent, spent });
  }
}

function inOrder<T>(projectWindow: ProjectWindow, run: () => Promise<T>): Promise<T> {
  const result = projectWindow.lastStatement.then(run);
  projectWindow.lastStatement = result.catch(() => {});
  return result;
}
