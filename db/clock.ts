import type { Db } from './db.ts';
import { statement } from './statement.ts';

const readClock = statement<{ now: Date }>('clock', 'select clock_timestamp() as now');

/** An answer that took longer says too little about the time. */
const MAX_ROUND_TRIP_MS = 1_000;

/**
 * The time of Postgres, so that all workers agree. Between two synchronisations it follows the monotonic clock, so a step
 * of this machine's clock neither delays a wait nor ends it early. Until the first answer it is the machine's own time.
 */
export class DatabaseClock {
  readonly #db: Db;
  readonly #synchroniseMs: number;
  /** Added to the monotonic clock. */
  #offsetMs = Date.now() - performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Db, synchroniseMs: number) {
    this.#db = db;
    this.#synchroniseMs = synchroniseMs;
  }

  readonly now = (): Date => new Date(performance.now() + this.#offsetMs);

  /** Synchronises now and periodically. An unavailable database changes nothing. */
  async start(): Promise<void> {
    await this.synchronise().catch(() => {});
    this.#timer = setInterval(() => void this.synchronise().catch(() => {}), this.#synchroniseMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async synchronise(): Promise<void> {
    const before = performance.now();
    const [row] = await readClock(this.#db);
    const after = performance.now();
    if (row && after - before < MAX_ROUND_TRIP_MS) this.#offsetMs = row.now.getTime() - (before + after) / 2;
  }
}
