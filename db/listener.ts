import pg from 'pg';
import type { Logger } from '../platform/logger.ts';
import { logFailure } from '../platform/outages.ts';
import { processTimings, type Timings } from '../platform/timings.ts';
import { closeClient } from './bounds.ts';

export interface ListenerOptions {
  databaseUrl: string;
  log: Logger;
  timings?: Timings;
}

type Handler = (payload: string) => void;

/**
 * The process's one connection that LISTENs. A heartbeat on the same connection proves that notifications still arrive;
 * when it fails, `healthy` becomes false for the caches that rely on it, and the listener reconnects.
 */
export class Listener {
  private readonly handlers = new Map<string, Handler[]>();
  private readonly resets: (() => void)[] = [];
  private client: pg.Client | undefined;
  private lastHeartbeat = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private readonly options: ListenerOptions;
  private readonly timings: Timings['listener'];

  constructor(options: ListenerOptions) {
    this.options = options;
    this.timings = (options.timings ?? processTimings).listener;
  }

  /** Call before `start`. */
  on(channel: string, handler: Handler): void {
    this.handlers.set(channel, [...(this.handlers.get(channel) ?? []), handler]);
  }

  /** Called after every gap in which notifications may have been missed. */
  onReset(reset: () => void): void {
    this.resets.push(reset);
  }

  /** False after so long without a heartbeat that notifications may have been missed. */
  get healthy(): boolean {
    const { heartbeat, heartbeatTimeout } = this.timings;
    return performance.now() - this.lastHeartbeat < heartbeat + heartbeatTimeout;
  }

  /** Never rejects: reconnects while the database is unavailable. */
  async start(): Promise<void> {
    if (this.stopped) return;
    try {
      await this.connect();
    } catch (error) {
      logFailure(this.options.log, { err: error }, 'cannot listen for notifications; reconnecting');
      this.reconnectLater();
    }
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    if (this.client) await closeClient(this.client);
  }

  private async connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.options.databaseUrl,
      application_name: 'everpost-listener',
      connectionTimeoutMillis: 5_000,
      query_timeout: this.timings.heartbeatTimeout,
      keepAlive: true,
    });
    client.on('error', () => this.drop(client));
    client.on('end', () => this.drop(client));
    client.on('notification', ({ channel, payload }) => {
      for (const handler of this.handlers.get(channel) ?? []) handler(payload ?? '');
    });
    try {
      await client.connect();
      for (const channel of this.handlers.keys()) await client.query(`listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      await closeClient(client);
      throw error;
    }
    this.client = client;
    for (const reset of this.resets) reset();
    this.lastHeartbeat = performance.now();
    this.scheduleHeartbeat(client);
  }

  private scheduleHeartbeat(client: pg.Client): void {
    this.timer = setTimeout(() => {
      client.query('select 1').then(
        () => {
          this.lastHeartbeat = performance.now();
          if (this.client === client) this.scheduleHeartbeat(client);
        },
        () => this.drop(client),
      );
    }, this.timings.heartbeat);
    this.timer.unref();
  }

  private drop(client: pg.Client): void {
    if (this.client !== client || this.stopped) return;
    this.client = undefined;
    this.lastHeartbeat = Number.NEGATIVE_INFINITY;
    for (const reset of this.resets) reset();
    void closeClient(client);
    this.reconnectLater();
  }

  private reconnectLater(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.start(), this.timings.reconnect);
    this.timer.unref();
  }
}
