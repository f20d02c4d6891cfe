import { IdleProcesses } from '../idle-processes.ts';
import { ProcessDiedError, type ProcessLimits, StartError } from '../limited-process.ts';
import { decodeResults } from './decode-results.ts';
import type { MailSources } from './mail.ts';
import type { RenderBatch, Rendered, RenderInput, TemplateGroup } from './protocol.ts';
import { type RendererProcess, startRendererProcess } from './renderer-process.ts';
import { RoundRobin } from './round-robin.ts';

/** One mail of a job, waiting or being rendered. */
export interface QueuedMail<Job extends MailSources> {
  job: Job;
  index: number;
  input: RenderInput;
}

export interface ProcessQueueOptions<Job extends MailSources> {
  processes: number;
  limits: ProcessLimits;
  /** After which a process without work ends. */
  keepMs: number;
  /** The most mails in one batch. */
  batchSize: number;
  onRendered(mail: QueuedMail<Job>, result: Rendered): void;
  /** Called for a mail that was not tried because another mail of its job broke a limit. */
  onNotTried(mail: QueuedMail<Job>): void;
  /** Called for every mail of the batch in which a process died; which one caused it is not known. */
  onProcessDied(mail: QueuedMail<Job>, death: ProcessDiedError): void;
  /** Called when no process can be started. */
  onFailed(job: Job, error: Error): void;
}

export const closedError = () => new Error('The renderer is closed.');

const START_ATTEMPTS = 3;
const BATCH_CHARACTERS = 512 * 1024;

/** A queue of mails in front of a few renderer processes. Jobs are served round-robin. */
export class ProcessQueue<Job extends MailSources> {
  private readonly options: ProcessQueueOptions<Job>;
  private readonly waiting = new RoundRobin<Job, QueuedMail<Job>>();
  private readonly processes = new Set<RendererProcess>();
  private readonly idle: IdleProcesses<RendererProcess>;
  private failedStarts = 0;
  private closed = false;

  constructor(options: ProcessQueueOptions<Job>) {
    this.options = options;
    this.idle = new IdleProcesses(options.keepMs);
  }

  /** Starts a process before there is work, unless one runs. */
  warm(): void {
    if (this.closed || this.processes.size > 0) return;
    const process = this.startOne();
    if (process) this.idle.put(process);
  }

  add(job: Job, mails: QueuedMail<Job>[]): void {
    this.waiting.add(job, mails);
    this.dispatch();
  }

  /** Removes and returns the mails of a job that are still waiting. */
  remove(job: Job): QueuedMail<Job>[] {
    return this.waiting.remove(job);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const job of this.waiting.removeAll()) this.options.onFailed(job, closedError());
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

  private dispatch(): void {
    while (!this.closed && !this.waiting.empty) {
      const process = this.idle.take() ?? this.startOne();
      if (!process) return;
      void this.run(process, this.takeBatch());
    }
  }

  private startOne(): RendererProcess | undefined {
    if (this.processes.size >= this.options.processes) return undefined;
    let process: RendererProcess;
    try {
      process = startRendererProcess(this.options.limits);
    } catch (error) {
      this.failAll([], error as Error);
      return undefined;
    }
    this.processes.add(process);
    void process.exited.then(() => {
      this.processes.delete(process);
      this.idle.remove(process);
      this.dispatch();
    });
    return process;
  }

  private takeBatch(): QueuedMail<Job>[] {
    const { batchSize } = this.options;
    let size = 0;
    return this.waiting.take(batchSize, Math.ceil(batchSize / 4), ({ input, job }) => {
      size += input.variables.length + job.html.length / 10;
      return size < BATCH_CHARACTERS;
    });
  }

  /** Never throws. */
  private async run(process: RendererProcess, mails: QueuedMail<Job>[]): Promise<void> {
    let next = 0;
    try {
      await process.run(toBatch(mails), mails.length, (results) => {
        for (const result of decodeResults(results)) {
          const mail = mails[next++];
          if (mail && result) this.options.onRendered(mail, result);
          else if (mail) this.options.onNotTried(mail);
        }
      });
      this.idle.put(process);
      this.failedStarts = 0;
    } catch (error) {
      this.handleFailure(mails.slice(next), error as Error);
    }
    this.dispatch();
  }

  private handleFailure(mails: QueuedMail<Job>[], error: Error): void {
    if (error instanceof ProcessDiedError && !this.closed) {
      for (const mail of mails) this.options.onProcessDied(mail, error);
      return;
    }
    if (error instanceof StartError && !this.closed && ++this.failedStarts < START_ATTEMPTS) {
      for (const mail of mails) this.waiting.add(mail.job, [mail]);
      return;
    }
    this.failedStarts = 0;
    this.failAll(mails, this.closed ? closedError() : error);
  }

  /** Fails all waiting jobs, because a start that failed would fail for them too. The next call tries again. */
  private failAll(mails: QueuedMail<Job>[], error: Error): void {
    const jobs = new Set([...mails.map(({ job }) => job), ...this.waiting.removeAll()]);
    for (const job of jobs) this.options.onFailed(job, error);
  }
}

/** Consecutive mails of one job share its template and its footers. */
function toBatch<Job extends MailSources>(mails: QueuedMail<Job>[]): RenderBatch {
  const batch: RenderBatch = [];
  let group: TemplateGroup | undefined;
  let last: Job | undefined;
  for (const { job, input } of mails) {
    if (!group || job !== last) {
      group = { subject: job.subject, html: job.html, plain: job.plain ?? false, footers: [], mails: [] };
      batch.push(group);
    }
    last = job;
    const found = group.footers.indexOf(input.footer);
    const footer = found === -1 ? group.footers.push(input.footer) - 1 : found;
    group.mails.push({ footer, variables: input.variables });
  }
  return batch;
}
