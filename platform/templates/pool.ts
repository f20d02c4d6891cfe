import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ProcessDiedError, ProcessLimits } from '../limited-process.ts';
import type { Logger } from '../logger.ts';
import type { MailSources } from './mail.ts';
import { closedError, ProcessQueue, type QueuedMail } from './process-queue.ts';
import type { Refusal, Rendered, RenderInput } from './protocol.ts';

export interface PoolOptions {
  processes: number;
  limits: ProcessLimits;
  /** After which a process without work ends. */
  keepMs: number;
  log: Logger;
}

/** The mails of one call. */
interface Job extends MailSources {
  results: Rendered[];
  left: number;
  /** Counts of the mails that were rendered one by one. */
  succeeded: number;
  refused: number;
  /** Indexes of mails whose process was killed from outside; they get one more try. */
  killedOnce: Set<number>;
  done(results: Rendered[]): void;
  failed(error: Error): void;
}

/** When this many mails, sampled over the job, were refused and none succeeded, the others are refused untried. */
const MIN_REFUSED = 8;
/** How long a template is isolated after it broke a limit. */
const SUSPECT_MS = 60_000;

/**
 * Renders mails in batches in a few processes. Mails of a template that broke a limit, and those of a batch in which a
 * process died, are rendered one by one in a separate process, so that no other mail waits for them.
 */
export class Pool {
  private readonly log: Logger;
  private readonly ordinary: ProcessQueue<Job>;
  private readonly isolated: ProcessQueue<Job>;
  private readonly suspects = new LRUCache<string, true>({ max: 1000, ttl: SUSPECT_MS });
  private closed = false;

  constructor({ processes, limits, keepMs, log }: PoolOptions) {
    this.log = log;
    const onFailed = (job: Job, error: Error) => this.failJob(job, error);
    this.ordinary = new ProcessQueue<Job>({
      processes,
      batchSize: 64,
      limits,
      keepMs,
      onRendered: (mail, result) => this.onRendered(mail, result),
      onNotTried: (mail) => this.isolated.add(mail.job, [mail]),
      onProcessDied: (mail) => this.isolated.add(mail.job, [mail]),
      onFailed,
    });
    this.isolated = new ProcessQueue<Job>({
      processes: 1,
      batchSize: 1,
      keepMs,
      limits: { ...limits, silenceMs: limits.silenceMs * 2 },
      onRendered: (mail, result) => this.onIsolatedRendered(mail, result),
      onNotTried: (mail) => this.isolated.add(mail.job, [mail]),
      onProcessDied: (mail, death) => this.onIsolatedDied(mail, death),
      onFailed,
    });
  }

  warm(): void {
    if (!this.closed) this.ordinary.warm();
  }

  render(sources: MailSources, inputs: RenderInput[]): Promise<Rendered[]> {
    if (this.closed) return Promise.reject(closedError());
    if (inputs.length === 0) return Promise.resolve([]);
    return new Promise((done, failed) => {
      const job = {
        ...sources,
        results: [],
        left: inputs.length,
        succeeded: 0,
        refused: 0,
        killedOnce: new Set<number>(),
        done,
        failed,
      };
      const mails = inputs.map((input, index) => ({ job, index, input }));
      if (this.isSuspect(job)) this.isolated.add(job, sampleFirst(mails));
      else this.ordinary.add(job, mails);
    });
  }

  /** Ends all processes and fails the jobs that are not finished. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([this.ordinary.close(), this.isolated.close()]);
  }

  get pids(): number[] {
    return [...this.ordinary.pids, ...this.isolated.pids];
  }

  private onRendered(mail: QueuedMail<Job>, result: Rendered): void {
    if (!result.ok && result.reason !== 'error') {
      const { job } = mail;
      this.suspects.set(keyOf(job), true);
      this.isolated.add(job, sampleFirst(this.ordinary.remove(job)));
    }
    this.resolve(mail, result);
  }

  private onIsolatedRendered(mail: QueuedMail<Job>, result: Rendered): void {
    const { job } = mail;
    if (result.ok) job.succeeded++;
    else this.refuse(job, result);
    this.resolve(mail, result);
  }

  private onIsolatedDied(mail: QueuedMail<Job>, { reason: cause, message }: ProcessDiedError): void {
    const { job, index } = mail;
    this.log.warn({ of: cause, detail: message }, 'renderer process died while rendering one mail');
    if (cause === 'killed' && !job.killedOnce.has(index)) {
      job.killedOnce.add(index);
      this.isolated.add(job, [mail]);
      return;
    }
    const reason = cause === 'time' ? 'time' : 'memory';
    const refusal: Refusal = { ok: false, reason, message: `the template takes too much ${reason} to render` };
    this.refuse(job, refusal);
    this.resolve(mail, refusal);
  }

  private refuse(job: Job, refusal: Refusal): void {
    this.suspects.set(keyOf(job), true);
    job.refused++;
    if (job.succeeded === 0 && job.refused >= MIN_REFUSED)
      for (const mail of this.isolated.remove(job)) this.resolve(mail, refusal);
  }

  private resolve({ job, index }: QueuedMail<Job>, result: Rendered): void {
    job.results[index] = result;
    if (--job.left === 0) job.done(job.results);
  }

  private failJob(job: Job, error: Error): void {
    this.ordinary.remove(job);
    this.isolated.remove(job);
    job.failed(error);
  }

  private isSuspect(job: MailSources): boolean {
    return this.suspects.size > 0 && this.suspects.has(keyOf(job));
  }
}

const keyOf = ({ subject, html }: MailSources): string =>
  createHash('sha256').update(subject).update('\0').update(html).digest('base64');

/** Puts a sample of the whole job first, so that a few hostile contacts in a row do not decide for all. */
function sampleFirst<T>(mails: T[]): T[] {
  const step = Math.ceil(mails.length / MIN_REFUSED);
  const first = mails.filter((_, index) => index % step === 0);
  return [...first, ...mails.filter((_, index) => index % step !== 0)];
}
