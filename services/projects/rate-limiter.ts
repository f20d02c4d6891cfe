import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/connect.ts';
import { askToSettle, type Lease, type LeaseRequest, leaseTokens, RATE_CHANNEL, settleTokens } from './rate-limit.ts';

const SPARE_AT_MOST = 100;
/** How long a request waits for what lies unspent in other processes, before it is refused. */
const PATIENCE_MS = 500;
const FIRST_PAUSE_MS = 5;
const NO_WINDOW = '0';
/** Counted in integer columns; more than this nobody can send in a minute. */
const MOST = 2_000_000_000;

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
  settle(report: { projectId: string; window: string; unspent: number; spent: number }): Promise<void>;
  ask(projectId: string): Promise<void>;
}

export const rateStore = (db: Db): RateStore => ({
  lease: (request) => leaseTokens(db, request),
  settle: (report) => settleTokens(db, report),
  ask: (projectId) => askToSettle(db, projectId),
});

interface Waiter {
  resolve(verdict: RateVerdict): void;
  reject(error: unknown): void;
}

/** What this process knows of a project's window, and the tokens it holds of it. */
interface Account {
  window: string;
  /** By the monotonic clock, never later than the database sees it. */
  endsAt: number;
  granted: number;
  tokens: number;
  /** Tokens spent that the database has not been told of. */
  spent: number;
  /** Nothing more is to be had in this window. */
  closed: boolean;
  waiters: Waiter[];
  working: boolean;
}

/**
 * So many requests per project and minute, over all processes together. Each process holds a few tokens in advance;
 * whoever finds none left asks the others to hand back theirs, so that the last one is spent too.
 */
export class RateLimiter {
  private readonly accounts = new LRUCache<string, Account>({ max: 50_000 });
  private readonly limit: number;
  private readonly store: RateStore;
  private readonly notices: Notices;

  constructor(limit: number, store: RateStore, notices: Notices) {
    this.limit = Math.min(limit, MOST);
    this.store = store;
    this.notices = notices;
    notices.on(RATE_CHANNEL, (projectId) => this.handBack(projectId));
    // Who cannot hear that others need tokens must not sit on any.
    notices.onReset(() => {
      for (const projectId of this.accounts.keys()) this.handBack(projectId);
    });
  }

  /** Takes one token, from memory where it can. Rejects when the database must be asked and cannot be. */
  take(projectId: string): RateVerdict | Promise<RateVerdict> {
    const account = this.accountOf(projectId);
    if (performance.now() < account.endsAt && account.waiters.length === 0) {
      if (account.tokens > 0) {
        account.spent++;
        return this.spend(account);
      }
      if (account.closed) return this.verdict(account, false);
    }
    return new Promise((resolve, reject) => {
      account.waiters.push({ resolve, reject });
      if (!account.working) void this.work(projectId, account);
    });
  }

  private accountOf(projectId: string): Account {
    let account = this.accounts.get(projectId);
    if (!account) {
      account = {
        window: NO_WINDOW,
        endsAt: Number.NEGATIVE_INFINITY,
        granted: 0,
        tokens: 0,
        spent: 0,
        closed: false,
        waiters: [],
        working: false,
      };
      this.accounts.set(projectId, account);
    }
    return account;
  }

  /** One lease at a time per project: whoever comes meanwhile is served by the next one. */
  private async work(projectId: string, account: Account): Promise<void> {
    account.working = true;
    try {
      let deadline: number | undefined;
      for (let pause = FIRST_PAUSE_MS; account.waiters.length > 0; ) {
        const left = await this.leaseOnce(projectId, account);
        if (left === 'some' || account.waiters.length === 0) continue;
        deadline ??= performance.now() + PATIENCE_MS;
        if (left === 'none' || performance.now() >= deadline) {
          account.closed = true;
          this.refuseAll(account);
          break;
        }
        // Each time anew: a grant that was on its way to another process arrives there after the first call.
        await this.store.ask(projectId);
        await sleep(pause);
        pause = Math.min(pause * 2, 50);
      }
    } catch (error) {
      for (const waiter of account.waiters.splice(0)) waiter.reject(error);
    } finally {
      account.working = false;
    }
  }

  /** Answers what is left of the window: `unsettled` tokens are granted, and may lie unspent in some process. */
  private async leaseOnce(projectId: string, account: Account): Promise<'some' | 'unsettled' | 'none'> {
    const sentAt = performance.now();
    const { window, spent } = account;
    const waiting = account.waiters.length;
    const spareAtMost = this.notices.healthy ? SPARE_AT_MOST : 0;
    account.spent = 0;
    const lease = await this.store.lease({ projectId, limit: this.limit, waiting, spareAtMost, window, spent });
    if (lease.window !== account.window) {
      account.window = lease.window;
      account.tokens = 0;
      account.spent = 0;
      account.closed = false;
    }
    // The database read its clock after `sentAt`, so this is at or before the true end.
    account.endsAt = sentAt + lease.msLeft;
    account.granted = lease.granted;
    account.tokens += lease.grant;
    this.serve(account, Math.min(lease.grant, waiting));
    if (lease.settled >= this.limit) return 'none';
    return lease.grant < waiting ? 'unsettled' : 'some';
  }

  /** The first `settled` of those who wait are counted as spent by the database already. */
  private serve(account: Account, settled: number): void {
    const served = account.waiters.splice(0, account.tokens);
    account.spent += Math.max(0, served.length - settled);
    for (const waiter of served) waiter.resolve(this.spend(account));
  }

  private spend(account: Account): RateVerdict {
    account.tokens--;
    return this.verdict(account, true);
  }

  private refuseAll(account: Account): void {
    for (const waiter of account.waiters.splice(0)) waiter.resolve(this.verdict(account, false));
  }

  private verdict(account: Account, allowed: boolean): RateVerdict {
    return {
      allowed,
      limit: this.limit,
      remaining: allowed ? Math.max(0, this.limit - account.granted + account.tokens) : 0,
      resetSeconds: Math.max(1, Math.ceil((account.endsAt - performance.now()) / 1000)),
    };
  }

  /** If the report is lost, fewer pass than might; never more. */
  private handBack(projectId: string): void {
    const account = this.accounts.peek(projectId);
    if (!account || (account.tokens === 0 && account.spent === 0)) return;
    const { window, tokens: unspent, spent } = account;
    account.granted -= unspent;
    account.tokens = 0;
    account.spent = 0;
    this.store.settle({ projectId, window, unspent, spent }).catch(() => {});
  }
}
