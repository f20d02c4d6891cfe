import pg from 'pg';
import type { Logger } from '../platform/logger.ts';
import { closeClient } from './bounds.ts';

const BEAT_MS = 2_000;
const BEAT_TIMEOUT_MS = 3_000;
/** Without a beat for this long nothing that was learned by NOTIFY may be trusted. */
const TRUST_MS = BEAT_MS + BEAT_TIMEOUT_MS;

export interface ListenerOptions {
  databaseUrl: string;
  log: Logger;
}

type Handler = (payload: string) => void;

/**
 * One connection per process that LISTENs. A beat on that very connection proves that notices still arrive; when it
 * stops, `healthy` turns false at once for whoever keeps a cache, and the connection is made anew.
 */
export class Listener {
  private readonly handlers = new Map<string, Handler[]>();
  private readonly resets: (() => void)[] = [];
  private client: pg.Client | undefined;
  private lastBeat = Number.NEGATIVE_INFINITY;
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

  /** Called after every gap in which notices may have been missed. */
  onReset(reset: () => void): void {
    this.resets.push(reset);
  }

  get healthy(): boolean {
    return performance.now() - this.lastBeat < TRUST_MS;
  }

  /** Never fails: a database that is away is tried again. */
  async start(): Promise<void> {
    if (this.stopped) return;
    try {
      await this.connect();
    } catch (error) {
      this.options.log.warn({ err: error }, 'cannot listen for notices; trying again');
      this.again();
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
      query_timeout: BEAT_TIMEOUT_MS,
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
    this.lastBeat = performance.now();
    this.beatLater(client);
  }

  private beatLater(client: pg.Client): void {
    this.timer = setTimeout(() => {
      client.query('select 1').then(
        () => {
          this.lastBeat = performance.now();
          if (this.client === client) this.beatLater(client);
        },
        () => this.drop(client),
      );
    }, BEAT_MS);
    this.timer.unref();
  }

  private drop(client: pg.Client): void {
    if (this.client !== client || this.stopped) return;
    this.client = undefined;
    this.lastBeat = Number.NEGATIVE_INFINITY;
    for (const reset of this.resets) reset();
    void closeClient(client);
    this.again();
  }

  private again(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.start(), 500);
    this.timer.unref();
  }
}
