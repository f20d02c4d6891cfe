import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from '../platform/logger.ts';
import type { TemporalSettings } from '../platform/settings.ts';
import { serverOptions, type Temporal } from '../temporal/connection.ts';
import { ensureSchedules } from '../temporal/schedules.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';

/** Options of the worker of one task queue, without its connection. */
export type QueueOptions = Omit<WorkerOptions, 'connection' | 'namespace'>;

export interface TemporalWorkersOptions {
  settings: TemporalSettings;
  temporal: Temporal;
  duties: QueueOptions[];
  log: Logger;
}

const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 10_000;
const timeouts: Partial<QueueOptions> = {
  shutdownGraceTime: '20 seconds',
  // Ends the worker even if an activity hangs.
  shutdownForceTime: '30 seconds',
  // By default heartbeats are throttled to four fifths of their time-out, too close for a busy machine.
  maxHeartbeatThrottleInterval: '5 seconds',
};

/** Keeps a worker running for every task queue. Retries while Temporal is unavailable. */
export class TemporalWorkers {
  private readonly options: TemporalWorkersOptions;
  private readonly ending = new AbortController();
  private readonly running: Promise<void>[];
  private connection: NativeConnection | undefined;
  private connecting: Promise<NativeConnection> | undefined;

  constructor(options: TemporalWorkersOptions) {
    this.options = options;
    this.running = options.duties.map((queue) => this.keep(queue));
  }

  /** Accepts no new work and finishes running work. */
  async stop(): Promise<void> {
    this.ending.abort();
    await Promise.all(this.running);
    await this.connection?.close().catch(() => {});
  }

  private async keep(queue: QueueOptions): Promise<void> {
    const { log } = this.options;
    const { signal } = this.ending;
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
      try {
        const worker = await this.make(queue);
        log.info({ taskQueue: queue.taskQueue }, 'polling Temporal');
        pause = FIRST_PAUSE_MS;
        await this.run(worker);
      } catch (err) {
        log.warn({ err, taskQueue: queue.taskQueue }, 'cannot poll Temporal; retrying');
      }
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  private async make(queue: QueueOptions): Promise<Worker> {
    const connection = await this.connect();
    return Worker.create({ ...timeouts, ...queue, connection, namespace: this.options.settings.namespace });
  }

  private async run(worker: Worker): Promise<void> {
    const { signal } = this.ending;
    const shutDown = () => worker.getState() === 'RUNNING' && worker.shutdown();
    const ended = worker.run();
    signal.addEventListener('abort', shutDown, { once: true });
    if (signal.aborted) shutDown();
    await ended.finally(() => signal.removeEventListener('abort', shutDown));
  }

  /** One connection for all workers. Once established it reconnects by itself. */
  private async connect(): Promise<NativeConnection> {
    if (this.connection) return this.connection;
    this.connecting ??= this.open().finally(() => {
      this.connecting = undefined;
    });
    return this.connecting;
  }

  private async open(): Promise<NativeConnection> {
    const { settings, temporal, log } = this.options;
    const attributes = await ensureSearchAttributes(temporal);
    if (attributes === 'cannot be checked') log.warn('Temporal does not allow checking its search attributes');
    await ensureSchedules(temporal);
    this.connection = await NativeConnection.connect(serverOptions(settings));
    return this.connection;
  }
}
