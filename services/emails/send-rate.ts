import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { SlotPace } from '../../platform/slots.ts';

// Reserves an interval on one timeline that all workers share, so that mails are spaced by the rate. Uses the database's
// clock only.
const reserve = statement<{ starts_in: number }>(
  'send-rate-reserve',
  `insert into send_rate as rate (next_at) values (clock_timestamp() + make_interval(secs => $1))
   on conflict (only_one) do update
     set next_at = greatest(rate.next_at, clock_timestamp()) + make_interval(secs => $1)
   returning extract(epoch from next_at - make_interval(secs => $1) - clock_timestamp())::float8 as starts_in`,
);

/** The longest reservation, and so the longest wait of another worker's first mail. */
const MAX_RESERVATION_SECONDS = 0.1;
/** A slot that is older than this is dropped. */
const MAX_LATE_MS = 20;
const RETRY_MS = 500;

/** Enforces `SEND_RATE_PER_SECOND` over all workers that share the database. */
export class SendRateLimit implements SlotPace {
  private readonly db: Db;
  private readonly perSecond: number;
  /** Reserved send times, by this process's clock. */
  private slots: number[] = [];

  constructor(db: Db, perSecond: number) {
    this.db = db;
    this.perSecond = perSecond;
  }

  async next(wanted: number): Promise<void> {
    for (;;) {
      const slot = this.slots.shift();
      const now = performance.now();
      if (slot === undefined) await this.refill(wanted);
      else if (slot > now - MAX_LATE_MS) return slot > now ? sleep(slot - now) : undefined;
    }
  }

  /** Waits out a database outage, during which nothing can be sent anyway. */
  private async refill(wanted: number): Promise<void> {
    const maxCount = Math.max(1, Math.floor(this.perSecond * MAX_RESERVATION_SECONDS));
    const count = Math.min(Math.max(wanted, 1), maxCount);
    const startedAt = performance.now();
    try {
      const [row] = await reserve(this.db, [count / this.perSecond]);
      // Counts from the arrival of the answer, which is never too early.
      const first = performance.now() + (row?.starts_in ?? 0) * 1_000;
      this.slots = Array.from({ length: count }, (_, n) => first + (n * 1_000) / this.perSecond);
    } catch {
      await sleep(Math.max(0, RETRY_MS - (performance.now() - startedAt)));
    }
  }
}
