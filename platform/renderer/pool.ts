import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../logger.ts';
import { closedError, Lane, type Unit } from './lane.ts';
import type { MailSources } from './mail.ts';
import type { Order, Refusal, Rendered } from './protocol.ts';
import type { ProcessDied, ProcessLimits } from './renderer-process.ts';

export interface PoolOptions {
  processes: number;
  limits: ProcessLimits;
  log: Logger;
}

/** Mails of one template that were asked for together. */
interface Job extends MailSources {
  results: Rendered[];
  left: number;
  /** Of those that were tried one by one: how many were made, and how many had to be refused. */
  made: number;
  refused: number;
  /** Mails that a process was killed with by somebody else; they are tried once more. */
  unlucky: Set<number>;
  done(results: Rendered[]): void;
  failed(error: Error): void;
}

/** When so many of a template, picked from everywhere, all had to be refused, the others are not tried. */
const TRIES = 8;
/** How long a template is kept apart after it broke a limit. */
const SUSPECT_MS = 60_000;

/**
 * Mails are made in batches by a few processes. A template that breaks a limit, and whatever was in the hands of a
 * process that died, is taken out of their way: its mails are made one by one, by a process that nobody else waits for.
 */
export class Pool {
  private readonly log: Logger;
  private readonly ordinary: Lane<Job>;
  private readonly careful: Lane<Job>;
  private readonly suspects = new LRUCache<string, true>({ max: 1000, ttl: SUSPECT_MS });
  private closed = false;

  constructor({ processes, limits, log }: PoolOptions) {
    this.log = log;
    const failed = (job: Job, error: Error) => this.abandon(job, error);
    this.ordinary = new Lane<Job>({
      processes,
      batch: 64,
      limits,
      rendered: (unit, result) => this.rendered(unit, result),
      putBack: (unit) => this.careful.add(unit.job, [unit]),
      died: (unit) => this.careful.add(unit.job, [unit]),
      failed,
    });
    this.careful = new Lane<Job>({
      processes: 1,
      batch: 1,
      limits: { ...limits, silenceMs: limits.silenceMs * 2 },
      rendered: (unit, result) => this.renderedAlone(unit, result),
      putBack: (unit) => this.careful.add(unit.job, [unit]),
      died: (unit, death) => this.diedAlone(unit, death),
      failed,
    });
  }

  render(sources: MailSources, orders: Order[]): Promise<Rendered[]> {
    if (this.closed) return Promise.reject(closedError());
    if (orders.length === 0) return Promise.resolve([]);
    return new Promise((done, failed) => {
      const job = {
        ...sources,
        results: [],
        left: orders.length,
        made: 0,
        refused: 0,
        unlucky: new Set<number>(),
        done,
        failed,
      };
      const units = orders.map((order, place) => ({ job, place, order }));
      if (this.isSuspect(job)) this.careful.add(job, spread(units));
      else this.ordinary.add(job, units);
    });
  }

  /** Ends all processes; what is not rendered yet fails. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([this.ordinary.close(), this.careful.close()]);
  }

  get pids(): number[] {
    return [...this.ordinary.pids, ...this.careful.pids];
  }

  private rendered(unit: Unit<Job>, result: Rendered): void {
    if (!result.ok && result.reason !== 'error') {
      const { job } = unit;
      this.suspects.set(keyOf(job), true);
      this.careful.add(job, spread(this.ordinary.remove(job)));
    }
    this.settle(unit, result);
  }

  private renderedAlone(unit: Unit<Job>, result: Rendered): void {
    const { job } = unit;
    if (result.ok) job.made++;
    else this.refuse(job, result);
    this.settle(unit, result);
  }

  private diedAlone(unit: Unit<Job>, { of, message }: ProcessDied): void {
    const { job, place } = unit;
    this.log.warn({ of, detail: message }, 'a renderer process died with one mail in its hands');
    if (of === 'killed' && !job.unlucky.has(place)) {
      job.unlucky.add(place);
      this.careful.add(job, [unit]);
      return;
    }
    const reason = of === 'time' ? 'time' : 'memory';
    const refusal: Refusal = { ok: false, reason, message: `the template takes more ${reason} than a mail may take` };
    this.refuse(job, refusal);
    this.settle(unit, refusal);
  }

  private refuse(job: Job, refusal: Refusal): void {
    this.suspects.set(keyOf(job), true);
    job.refused++;
    if (job.made === 0 && job.refused >= TRIES) for (const unit of this.careful.remove(job)) this.settle(unit, refusal);
  }

  private settle({ job, place }: Unit<Job>, result: Rendered): void {
    job.results[place] = result;
    if (--job.left === 0) job.done(job.results);
  }

  private abandon(job: Job, error: Error): void {
    this.ordinary.remove(job);
    this.careful.remove(job);
    job.failed(error);
  }

  private isSuspect(job: MailSources): boolean {
    return this.suspects.size > 0 && this.suspects.has(keyOf(job));
  }
}

const keyOf = ({ subject, html }: MailSources): string =>
  createHash('sha256').update(subject).update('\0').update(html).digest('base64');

/** First a few from everywhere, so that a few hostile contacts in a row do not speak for all. */
function spread<T>(units: T[]): T[] {
  const step = Math.ceil(units.length / TRIES);
  const first = units.filter((_, place) => place % step === 0);
  return [...first, ...units.filter((_, place) => place % step !== 0)];
}
