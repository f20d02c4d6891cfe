import { LRUCache } from 'lru-cache';

interface ProjectCalls {
  running: number;
  waiting: number;
  /** The exponential moving average of how long its calls take. */
  averageMs: number;
  /** When the last one that was sent away comes back. */
  nextReturnAt: number;
}

interface Running {
  project: string;
  receiver: string;
  since: number;
  /** Whether a call of this share has ended. */
  reported: boolean;
}

interface Waiter {
  project: string;
  receiver: string;
  /** Without a share: it has waited long enough. */
  enter(share: CallShare | undefined): void;
}

/** The right to call a receiver, until it is left. */
export interface CallShare {
  /** Says how long a call has taken, which decides whether the receiver counts as slow. */
  report(ms: number): void;
  /** Whether a slow receiver should make room, because others wait. */
  shouldYield(): boolean;
  leave(): void;
}

export interface CallLimits {
  total: number;
  perProject: number;
  /** Of these, what slow receivers get. */
  slowTotal: number;
  slowPerProject: number;
  waitingPerProject: number;
  waitMs: number;
}

export const CALL_LIMITS: CallLimits = {
  total: 200,
  perProject: 20,
  slowTotal: 100,
  slowPerProject: 10,
  waitingPerProject: 10,
  waitMs: 5_000,
};
/** Room for all that run and for some that wait. */
export const CALL_ACTIVITY_SLOTS = 300;

const SLOW_MS = 3_000;
const MAX_KNOWN = 10_000;
const SHORTEST_RETURN_MS = 2_000;
const LONGEST_RETURN_MS = 60_000;

/**
 * Shares the outgoing calls of a process between projects, so that receivers that hang delay calls of their own project
 * only, and within a project those of fast receivers little.
 */
export class CallShares {
  private readonly limits: CallLimits;
  private readonly running = new Set<Running>();
  private readonly waiters = new Set<Waiter>();
  private readonly projects = new LRUCache<string, ProjectCalls>({ max: MAX_KNOWN });
  /** How long calls of a receiver take on average. */
  private readonly averages = new LRUCache<string, number>({ max: MAX_KNOWN });

  constructor(limits: Partial<CallLimits> = {}) {
    this.limits = { ...CALL_LIMITS, ...limits };
  }

  /** Waits for a share, for some seconds at most. Without one the caller comes back after `returnDelayMs`. */
  async enter(project: string, receiver: string, signal?: AbortSignal): Promise<CallShare | undefined> {
    if (this.hasRoom(project, receiver)) return this.start(project, receiver);
    const calls = this.callsOf(project);
    if (calls.waiting >= this.limits.waitingPerProject || signal?.aborted) return undefined;
    calls.waiting++;
    return new Promise<CallShare | undefined>((resolve) => {
      const giveUp = () => waiter.enter(undefined);
      const timer = setTimeout(giveUp, this.limits.waitMs);
      const waiter: Waiter = {
        project,
        receiver,
        enter: (share) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', giveUp);
          this.waiters.delete(waiter);
          calls.waiting--;
          resolve(share);
        },
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.waiters.add(waiter);
    });
  }

  /** Returns when a caller without a share should ask again. Callers of a project are spread over the time they need. */
  returnDelayMs(project: string): number {
    const calls = this.callsOf(project);
    const now = performance.now();
    const at = Math.max(now + SHORTEST_RETURN_MS, calls.nextReturnAt + calls.averageMs / this.limits.perProject);
    calls.nextReturnAt = Math.min(at, now + LONGEST_RETURN_MS);
    return Math.round(calls.nextReturnAt - now);
  }

  private callsOf(project: string): ProjectCalls {
    const known = this.projects.get(project);
    if (known) return known;
    const calls = { running: 0, waiting: 0, averageMs: 0, nextReturnAt: 0 };
    this.projects.set(project, calls);
    return calls;
  }

  private hasRoom(project: string, receiver: string): boolean {
    const { total, perProject, slowTotal, slowPerProject } = this.limits;
    if (this.running.size >= total || this.callsOf(project).running >= perProject) return false;
    if (!this.isKnownSlow(receiver)) return true;
    const slow = [...this.running].filter((one) => this.isSlow(one));
    return slow.length < slowTotal && slow.filter((one) => one.project === project).length < slowPerProject;
  }

  private isKnownSlow(receiver: string): boolean {
    return (this.averages.get(receiver) ?? 0) > SLOW_MS;
  }

  private isSlow({ receiver, since, reported }: Running): boolean {
    return this.isKnownSlow(receiver) || (!reported && performance.now() - since > SLOW_MS);
  }

  private start(project: string, receiver: string): CallShare {
    const calls = this.callsOf(project);
    const one: Running = { project, receiver, since: performance.now(), reported: false };
    this.running.add(one);
    calls.running++;
    return {
      report: (ms) => {
        one.reported = true;
        this.averages.set(receiver, average(this.averages.get(receiver) ?? ms, ms));
        calls.averageMs = average(calls.averageMs || ms, ms);
      },
      shouldYield: () => this.waiters.size > 0 && this.isSlow(one),
      leave: () => {
        if (!this.running.delete(one)) return;
        calls.running--;
        this.serve();
      },
    };
  }

  /** Receivers that are known to be slow come behind all others. */
  private serve(): void {
    const inOrder = [...this.waiters];
    const slow = inOrder.filter(({ receiver }) => this.isKnownSlow(receiver));
    for (const waiter of [...inOrder.filter((one) => !slow.includes(one)), ...slow])
      if (this.hasRoom(waiter.project, waiter.receiver)) waiter.enter(this.start(waiter.project, waiter.receiver));
  }
}

const average = (before: number, ms: number): number => before * 0.7 + ms * 0.3;
