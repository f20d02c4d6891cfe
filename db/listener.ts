import pg from 'pg';
import type { Logger } from '../platform/logger.ts';
import { closeClient } from './bounds.ts';

const HEARTBEAT_MS = 2_000;
const HEARTBEAT_TIMEOUT_MS = 3_000;
/** After this long without a heartbeat, notifications may have been missed. */
const HEALTHY_MS = HEARTBEAT_MS + HEARTBEAT_TIMEOUT_MS;
const RECONNECT_MS = 500;

export interface ListenerOptions {
  databaseUrl: string;
  log: Logger;
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

  constructor(options: ListenerOptions) {
    this.options = options;
  }

  /** Call before `start`. */
  on(channel: string, handler: Handler): void {
    this.handlers.set(channel, [...(this.handlers.get(channel) ?? []), handler]);
  }

  /** Called after every gap in which notifications may have been missed. */
  onReset(reset: () => void): void {
    this.resets.push(reset);
  }

  get healthy(): boolean {
    return performance.now() - this.lastHeartbeat < HEALTHY_MS;
  }

  /** Never rejects: reconnects while the database is unavailable. */
  async start(): Promise<void> {
    if (this.stopped) return;
    try {
      await this.connect();
    } catch (error) {
      this.options.log.warn({ err: error }, 'cannot listen for notifications; reconnecting');
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
      query_timeout: HEARTBEAT_TIMEOUT_MS,
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
    }, HEARTBEAT_MS);
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
    this.timer = setTimeout(() => void this.start(), RECONNECT_MS);
    this.timer.unref();
  }
}
