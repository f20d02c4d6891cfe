import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from '../platform/logger.ts';
import { logFailure } from '../platform/outages.ts';
import type { TemporalSettings } from '../platform/settings.ts';
import { type ShutdownTimes, shutdownTimes } from '../platform/shutdown.ts';
import { processTimings, type Timings } from '../platform/timings.ts';
import { serverOptions, type Temporal } from '../temporal/connection.ts';
import type { NamespaceOwner } from '../temporal/namespace-owner.ts';
import { ensureSchedules } from '../temporal/schedules.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';

/** Options of the worker of one task queue, without its connection. */
export type QueueOptions = Omit<WorkerOptions, 'connection' | 'namespace'>;

export interface TemporalWorkersOptions {
  settings: TemporalSettings;
  temporal: Temporal;
  /** Asked before anything is polled. Unset in tests, which have a namespace each. */
  owner?: Pick<NamespaceOwner, 'verify'>;
  duties: QueueOptions[];
  shutdown?: ShutdownTimes;
  timings?: Timings;
  log: Logger;
}

const DEFAULT_GRACE_SECONDS = 60;

/** Keeps a worker running for every task queue. Retries while Temporal is unavailable. */
export class TemporalWorkers {
  private readonly options: TemporalWorkersOptions;
  private readonly ending = new AbortController();
  private readonly running: Promise<void>[];
  private readonly polling = new Map<Worker, QueueOptions>();
  private connection: NativeConnection | undefined;
  private connecting: Promise<NativeConnection> | undefined;

  constructor(options: TemporalWorkersOptions) {
    this.options = options;
    options.temporal.onRenewed(() => void this.renewConnection());
    this.running = options.duties.map((queue) => this.keep(queue));
  }

  /** Whether every task queue of this process is being polled. A worker that Temporal rejects ends and is made anew. */
  get isPolling(): boolean {
    const polling = [...this.polling.keys()].filter((worker) => worker.getState() === 'RUNNING');
    return polling.length === this.options.duties.length;
  }

  /** The task queues that are not polled because all slots for activities are busy. */
  get busyQueues(): string[] {
    return [...this.polling]
      .filter(([worker, { maxConcurrentActivityTaskExecutions: slots = Number.POSITIVE_INFINITY }]) => {
        return worker.getStatus().numInFlightNonLocalActivities >= slots;
      })
      .map(([, { taskQueue }]) => taskQueue);
  }

  /** Accepts no new work and finishes running work. */
  async stop(): Promise<void> {
    this.ending.abort();
    await Promise.all(this.running);
    await this.connection?.close().catch(() => {});
  }

  private async keep(queue: QueueOptions): Promise<void> {
    const { log, timings = processTimings } = this.options;
    const { firstReconnect, lastReconnect } = timings.worker;
    const { signal } = this.ending;
    for (let pause = firstReconnect; !signal.aborted; pause = Math.min(pause * 2, lastReconnect)) {
      try {
        const worker = await this.make(queue);
        log.info({ taskQueue: queue.taskQueue }, 'polling Temporal');
        pause = firstReconnect;
        await this.run(worker, queue);
      } catch (err) {
        logFailure(log, { err, taskQueue: queue.taskQueue }, 'cannot poll Temporal; retrying');
      }
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  private async make(queue: QueueOptions): Promise<Worker> {
    const connection = await this.connect();
    const { settings, shutdown = shutdownTimes(DEFAULT_GRACE_SECONDS), timings = processTimings } = this.options;
    return Worker.create({
      shutdownGraceTime: shutdown.waitMs,
      // Ends the worker even if an activity hangs.
      shutdownForceTime: shutdown.forceMs,
      maxHeartbeatThrottleInterval: timings.activity.heartbeatThrottle,
      stickyQueueScheduleToStartTimeout: timings.activity.stickyTask,
      ...queue,
      connection,
      namespace: settings.namespace,
    });
  }

  private async run(worker: Worker, queue: QueueOptions): Promise<void> {
    const { signal } = this.ending;
    const shutDown = () => worker.getState() === 'RUNNING' && worker.shutdown();
    const ended = worker.run();
    this.polling.set(worker, queue);
    signal.addEventListener('abort', shutDown, { once: true });
    if (signal.aborted) shutDown();
    await ended.finally(() => {
      this.polling.delete(worker);
      signal.removeEventListener('abort', shutDown);
    });
  }

  /** One connection for all workers. Once established it reconnects automatically. */
  private async connect(): Promise<NativeConnection> {
    if (this.connection) return this.connection;
    this.connecting ??= this.open().finally(() => {
      this.connecting = undefined;
    });
    return this.connecting;
  }

  /** Replaces the connection after certificates have changed. Running work continues. */
  private async renewConnection(): Promise<void> {
    const { settings, log } = this.options;
    try {
      const previous = this.connection;
      const next = await NativeConnection.connect(serverOptions(settings));
      this.connection = next;
      for (const worker of this.polling.keys()) worker.connection = next;
      await previous?.close().catch(() => {});
      log.info('certificates were read again');
    } catch (err) {
      log.warn({ err }, 'cannot connect with the new certificates; keeping the old connection');
    }
  }

  private async open(): Promise<NativeConnection> {
    const { settings, temporal, owner, log } = this.options;
    await owner?.verify();
    const attributes = await ensureSearchAttributes(temporal);
    if (attributes === 'cannot be checked') log.warn('Temporal does not allow checking its search attributes');
    await ensureSchedules(temporal);
    this.connection = await NativeConnection.connect(serverOptions(settings));
    return this.connection;
  }
}
