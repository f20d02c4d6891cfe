import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { SharedRate } from '../../platform/smtp/relays.ts';

// Reserves an interval on the timeline of the key, which all workers share, so that mails are spaced by the rate. Uses the
// database's clock only.
const reserve = statement<{ startsIn: number }>(
  'send-rates-reserve',
  `insert into send_rates as rate (key, next_at) values ($1, clock_timestamp() + make_interval(secs => $2))
   on conflict (key) do update
     set next_at = greatest(rate.next_at, clock_timestamp()) + make_interval(secs => $2)
   returning extract(epoch from next_at - make_interval(secs => $2) - clock_timestamp())::float8 as starts_in`,
);

/** The longest reservation, and so the longest wait of another worker's first mail. */
const MAX_RESERVATION_SECONDS = 0.1;
/** Reserves anew when the last place is this near, so that no time is lost between two reservations. */
const AHEAD_MS = 25;
/** A place that is older than this, and than half the distance of two, is dropped: places are not saved up. */
const MAX_LATE_MS = 20;
/** Only the last place is kept longer, or a process that is slow to ask would never have one. */
const LAST_MAX_LATE_MS = 1_000;
const RETRY_MS = 500;
/** How soon to ask again while a reservation is under way. */
const RESERVING_MS = 5;

/**
 * Limits the rate of mail over all workers that share the database. Keys: `all` (SEND_RATE_PER_SECOND), `relay/<name>`,
 * `domain/<name>`. Places are reserved a little ahead, so that asking for one needs no database.
 */
export class RateLimit implements SharedRate {
  private readonly db: Db;
  private readonly key: string;
  private readonly perSecond: number;
  private readonly maxLateMs: number;
  /** The times of reserved places, by this process's clock. */
  private places: number[] = [];
  /** How often a place was wanted since the last reservation, which bounds the next one. */
  private asked = 0;
  private retryAt = Number.NEGATIVE_INFINITY;
  private reservation: Promise<void> | undefined;

  constructor(db: Db, key: string, perSecond: number) {
    this.db = db;
    this.key = key;
    this.perSecond = perSecond;
    this.maxLateMs = Math.max(MAX_LATE_MS, 500 / perSecond);
  }

  /** The milliseconds after which to ask again; 0 when a mail may leave now. `waiting`: how many mails want to. */
  delay(waiting = 1): number {
    const delay = this.estimate();
    this.asked = Math.max(this.asked + 1, waiting);
    const next = this.places[0];
    const last = this.places.at(-1);
    const isAhead = last !== undefined && (last - performance.now() >= AHEAD_MS || this.asked <= this.places.length);
    if (!isAhead) this.reserve();
    if (next !== undefined) return delay;
    return Math.max(RESERVING_MS, this.retryAt - performance.now());
  }

  /** The milliseconds until the next reserved place; reserves none. */
  estimate(): number {
    const now = performance.now();
    const { places } = this;
    while (places[0] !== undefined && now - places[0] > (places.length > 1 ? this.maxLateMs : LAST_MAX_LATE_MS))
      places.shift();
    return Math.max(0, (this.places[0] ?? now) - now);
  }

  /** Takes the place of one mail. */
  take(): void {
    this.places.shift();
  }

  /** Resolves when the next mail may leave, and takes its place. Waits out a database outage. */
  async next(waiting = 1): Promise<void> {
    for (;;) {
      const delay = this.delay(waiting);
      if (delay === 0) return this.take();
      if (this.places.length > 0 || !this.reservation) await sleep(delay);
      else await this.reservation;
    }
  }

  private reserve(): void {
    if (this.reservation || performance.now() < this.retryAt) return;
    const maxCount = Math.max(1, Math.floor(this.perSecond * MAX_RESERVATION_SECONDS));
    const count = Math.min(this.asked, maxCount);
    this.asked = 0;
    this.reservation = this.reservePlaces(count).finally(() => {
      this.reservation = undefined;
    });
  }

  private async reservePlaces(count: number): Promise<void> {
    try {
      const [row] = await reserve(this.db, [this.key, count / this.perSecond]);
      // Counts from the arrival of the answer, which is never too early.
      const first = performance.now() + (row?.startsIn ?? 0) * 1_000;
      for (let n = 0; n < count; n++) this.places.push(first + (n * 1_000) / this.perSecond);
    } catch {
      this.retryAt = performance.now() + RETRY_MS;
    }
  }
}
