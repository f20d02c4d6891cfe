import type { MailSources } from './mail.ts';
import type { Batch, Group, Order, Rendered } from './protocol.ts';
import { CannotStart, ProcessDied, type ProcessLimits, RendererProcess } from './renderer-process.ts';
import { readResults } from './shared-outlines.ts';
import { Turns } from './turns.ts';

/** One mail on its way; those of one job share their template. */
export interface Unit<Job extends MailSources> {
  job: Job;
  place: number;
  order: Order;
}

export interface LaneOptions<Job extends MailSources> {
  processes: number;
  limits: ProcessLimits;
  /** Of mails in one batch. */
  batch: number;
  rendered(unit: Unit<Job>, result: Rendered): void;
  /** Not tried, because another mail of its job broke a limit. */
  putBack(unit: Unit<Job>): void;
  /** The process died with this mail in its hands; whether because of it is not known. */
  died(unit: Unit<Job>, death: ProcessDied): void;
  /** There is no process to be had. */
  failed(job: Job, error: Error): void;
}

export const closedError = () => new Error('The renderer is closed.');

const START_ATTEMPTS = 3;
const BATCH_CHARACTERS = 512 * 1024;

/** Work that waits for the same few processes. Jobs take turns. */
export class Lane<Job extends MailSources> {
  private readonly options: LaneOptions<Job>;
  private readonly waiting = new Turns<Job, Unit<Job>>();
  private readonly processes = new Set<RendererProcess>();
  private readonly idle: RendererProcess[] = [];
  private failedStarts = 0;
  private closed = false;

  constructor(options: LaneOptions<Job>) {
    this.options = options;
  }

  add(job: Job, units: Unit<Job>[]): void {
    this.waiting.add(job, units);
    this.dispatch();
  }

  /** Takes back what is not begun. */
  remove(job: Job): Unit<Job>[] {
    return this.waiting.remove(job);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const job of this.waiting.removeAll()) this.options.failed(job, closedError());
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
      const process = this.idle.pop() ?? this.startOne();
      if (!process) return;
      void this.run(process, this.takeUnits());
    }
  }

  private startOne(): RendererProcess | undefined {
    if (this.processes.size >= this.options.processes) return undefined;
    let process: RendererProcess;
    try {
      process = new RendererProcess(this.options.limits);
    } catch (error) {
      this.failAll([], error as Error);
      return undefined;
    }
    this.processes.add(process);
    void process.exited.then(() => {
      this.processes.delete(process);
      const place = this.idle.indexOf(process);
      if (place !== -1) this.idle.splice(place, 1);
      this.dispatch();
    });
    return process;
  }

  private takeUnits(): Unit<Job>[] {
    const { batch } = this.options;
    let size = 0;
    return this.waiting.take(batch, Math.ceil(batch / 4), ({ order, job }) => {
      size += order.variables.length + job.html.length / 10;
      return size < BATCH_CHARACTERS;
    });
  }

  /** Never throws. */
  private async run(process: RendererProcess, units: Unit<Job>[]): Promise<void> {
    let next = 0;
    try {
      await process.run(batchOf(units), (results) => {
        for (const result of readResults(results)) {
          const unit = units[next++];
          if (unit && result) this.options.rendered(unit, result);
          else if (unit) this.options.putBack(unit);
        }
      });
      this.idle.push(process);
      this.failedStarts = 0;
    } catch (error) {
      this.lost(units.slice(next), error as Error);
    }
    this.dispatch();
  }

  private lost(units: Unit<Job>[], error: Error): void {
    if (error instanceof ProcessDied && !this.closed) {
      for (const unit of units) this.options.died(unit, error);
      return;
    }
    if (error instanceof CannotStart && !this.closed && ++this.failedStarts < START_ATTEMPTS) {
      for (const unit of units) this.waiting.add(unit.job, [unit]);
      return;
    }
    this.failedStarts = 0;
    this.failAll(units, this.closed ? closedError() : error);
  }

  /** What cannot be started will not start for the others either; the next call tries again. */
  private failAll(units: Unit<Job>[], error: Error): void {
    const jobs = new Set([...units.map(({ job }) => job), ...this.waiting.removeAll()]);
    for (const job of jobs) this.options.failed(job, error);
  }
}

/** Units of one job that follow each other share its template, and their footers. */
function batchOf<Job extends MailSources>(units: Unit<Job>[]): Batch {
  const batch: Batch = [];
  let group: Group | undefined;
  let last: Job | undefined;
  for (const { job, order } of units) {
    if (!group || job !== last) {
      group = { subject: job.subject, html: job.html, plain: job.plain ?? false, footers: [], orders: [] };
      batch.push(group);
    }
    last = job;
    const known = group.footers.indexOf(order.footer);
    const footer = known === -1 ? group.footers.push(order.footer) - 1 : known;
    group.orders.push({ footer, variables: order.variables });
  }
  return batch;
}
