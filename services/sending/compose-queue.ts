import { IdleProcesses } from '../../platform/idle-processes.ts';
import { ProcessDiedError, type ProcessLimits, StartError } from '../../platform/limited-process.ts';
import type { SmtpMessage } from '../../platform/mime/smtp-message.ts';
import { RoundRobin } from '../../platform/templates/round-robin.ts';
import { ComposeProcess, type ComposeProcessOptions } from './compose-process.ts';
import type { ComposeResults, RenderedMail } from './compose-protocol.ts';

/** Why a mail cannot be sent, for good. */
export interface Refused {
  kind: 'refused';
  reason: string;
}

/** A mail that waits for a process, with its size in characters or bytes. */
export interface ComposeJob {
  mail: RenderedMail;
  size: number;
  /** Whether its process was killed from outside while it was composed alone. */
  killedAlone?: boolean;
  done(message: SmtpMessage | Refused): void;
  failed(error: Error): void;
}

export interface ComposeQueueOptions {
  process: Omit<ComposeProcessOptions, 'limits'>;
  limits: ProcessLimits;
  processes: number;
  /** The most mails in one batch. */
  batchSize: number;
  /** After which a process without work ends. */
  keepMs: number;
  /** Called for every mail without a result when a process died; with several it is not known which is to blame. */
  onCut(job: ComposeJob, death: ProcessDiedError): void;
  onComposed?(job: ComposeJob): void;
}

export const closedError = () => new Error('Composing is closed.');

const START_ATTEMPTS = 3;
const BATCH_SIZE = 512 * 1024;

/** Mails that wait for a few processes. Projects are served round-robin. */
export class ComposeQueue {
  private readonly options: ComposeQueueOptions;
  private readonly waiting = new RoundRobin<string, ComposeJob>();
  private readonly processes = new Set<ComposeProcess>();
  private readonly idle: IdleProcesses<ComposeProcess>;
  private failedStarts = 0;
  private closed = false;

  constructor(options: ComposeQueueOptions) {
    this.options = options;
    this.idle = new IdleProcesses(options.keepMs);
  }

  /** Starts a process before there is work, unless one runs. */
  warm(): void {
    if (this.closed || this.processes.size > 0) return;
    const process = this.startOne();
    if (process) this.idle.put(process);
  }

  add(job: ComposeJob): void {
    if (this.closed) job.failed(closedError());
    else {
      this.waiting.add(job.mail.head.projectId, [job]);
      this.scheduleDispatch();
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.failWaiting(closedError());
    await Promise.all(
      [...this.processes].map((process) => {
        process.kill();
        return process.exited;
      }),
    );
  }

  get pids(): number[] {
    return [...this.processes].flatMap(({ pid }) => pid ?? []);
  }

  private scheduled = false;

  /** Jobs of the same turn of the event loop share batches. */
  private scheduleDispatch(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.dispatch();
    });
  }

  private dispatch(): void {
    while (!this.closed && !this.waiting.empty) {
      const process = this.idle.take() ?? this.startOne();
      if (!process) return;
      void this.run(process, this.takeBatch());
    }
  }

  private startOne(): ComposeProcess | undefined {
    if (this.processes.size >= this.options.processes) return undefined;
    const { process: options, limits } = this.options;
    let process: ComposeProcess;
    try {
      process = new ComposeProcess({ ...options, limits });
    } catch (error) {
      this.failWaiting(error as Error);
      return undefined;
    }
    this.processes.add(process);
    void process.exited.then(() => this.onExit(process));
    return process;
  }

  private onExit(process: ComposeProcess): void {
    this.processes.delete(process);
    this.idle.remove(process);
    if (!process.started) this.failedStarts++;
    this.dispatch();
  }

  private takeBatch(): ComposeJob[] {
    const { batchSize, processes } = this.options;
    // Shares what waits among the processes.
    const count = Math.min(batchSize, Math.max(MIN_BATCH, Math.ceil(this.waiting.size / processes)));
    let size = 0;
    return this.waiting.take(count, Math.ceil(count / 2), (job) => {
      size += job.size;
      return size < BATCH_SIZE;
    });
  }

  /** Never throws. */
  private async run(process: ComposeProcess, jobs: ComposeJob[]): Promise<void> {
    let next = 0;
    try {
      await process.run(
        jobs.map(({ mail }) => mail),
        (results) => {
          next = this.report(jobs, next, results);
        },
      );
      this.idle.put(process);
      this.failedStarts = 0;
    } catch (error) {
      this.handleFailure(jobs.slice(next), error as Error);
    }
    this.dispatch();
  }

  /** Returns the index of the next job without a result. */
  private report(jobs: ComposeJob[], from: number, { results, bytes }: ComposeResults): number {
    let next = from;
    let offset = 0;
    for (const result of results) {
      const job = jobs[next++];
      if ('refused' in result) job?.done({ kind: 'refused', reason: `cannot be composed: ${result.refused}` });
      else {
        const { length, ...message } = result;
        job?.done({ ...message, raw: bytes.subarray(offset, offset + length) });
        offset += length;
      }
      if (job) this.options.onComposed?.(job);
    }
    return next;
  }

  private handleFailure(jobs: ComposeJob[], error: Error): void {
    if (this.closed) for (const job of jobs) job.failed(closedError());
    else if (error instanceof ProcessDiedError) for (const job of jobs) this.options.onCut(job, error);
    else if (error instanceof StartError && this.failedStarts + 1 < START_ATTEMPTS)
      for (const job of jobs) this.add(job);
    else {
      this.failedStarts = 0;
      for (const job of jobs) job.failed(error);
      this.failWaiting(error);
    }
  }

  /** Fails all waiting mails, because a start that failed would fail for them too. The next call tries again. */
  private failWaiting(error: Error): void {
    for (const job of this.waiting.takeAll()) job.failed(error);
  }
}

/** Fewer mails are not shared among processes. */
const MIN_BATCH = 16;
