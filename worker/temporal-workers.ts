import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from '../platform/logger.ts';
import type { TemporalSettings } from '../platform/settings.ts';
import { serverOptions, type Temporal } from '../temporal/connection.ts';
import { ensureSchedules } from '../temporal/schedules.ts';
import { ensureSearchAttributes } from '../temporal/search-attributes.ts';

/** What one worker does; where Temporal is does not concern it. */
export type Duty = Omit<WorkerOptions, 'connection' | 'namespace'>;

export interface TemporalWorkersOptions {
  settings: TemporalSettings;
  temporal: Temporal;
  duties: Duty[];
  log: Logger;
}

const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 10_000;
const times: Partial<Duty> = {
  shutdownGraceTime: '20 seconds',
  // After this the process ends, whatever hangs.
  shutdownForceTime: '30 seconds',
  // By default a heartbeat waits for four fifths of its timeout, which leaves little for a busy machine.
  maxHeartbeatThrottleInterval: '5 seconds',
};

/** Keeps a worker going for every duty. Temporal may be away, now or later: it is asked again until it is there. */
export class TemporalWorkers {
  private readonly options: TemporalWorkersOptions;
  private readonly ending = new AbortController();
  private readonly running: Promise<void>[];
  private connection: NativeConnection | undefined;
  private connecting: Promise<NativeConnection> | undefined;

  constructor(options: TemporalWorkersOptions) {
    this.options = options;
    this.running = options.duties.map((duty) => this.keep(duty));
  }

  /** Takes no new work and finishes what is under way. */
  async stop(): Promise<void> {
    this.ending.abort();
    await Promise.all(this.running);
    await this.connection?.close().catch(() => {});
  }

  private async keep(duty: Duty): Promise<void> {
    const { log } = this.options;
    const { signal } = this.ending;
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
      try {
        const worker = await this.make(duty);
        log.info({ taskQueue: duty.taskQueue }, 'taking work from Temporal');
        pause = FIRST_PAUSE_MS;
        await this.run(worker);
      } catch (err) {
        log.warn({ err, taskQueue: duty.taskQueue }, 'cannot take work from Temporal; trying again');
      }
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  private async make(duty: Duty): Promise<Worker> {
    const connection = await this.connect();
    return Worker.create({ ...times, ...duty, connection, namespace: this.options.settings.namespace });
  }

  private async run(worker: Worker): Promise<void> {
    const { signal } = this.ending;
    const shutDown = () => worker.getState() === 'RUNNING' && worker.shutdown();
    const ended = worker.run();
    signal.addEventListener('abort', shutDown, { once: true });
    if (signal.aborted) shutDown();
    await ended.finally(() => signal.removeEventListener('abort', shutDown));
  }

  /** One connection for all; its engine connects again by itself once it has been there. */
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
    if (attributes === 'cannot be checked') log.warn('this Temporal does not let us check its search attributes');
    await ensureSchedules(temporal);
    this.connection = await NativeConnection.connect(serverOptions(settings));
    return this.connection;
  }
}
