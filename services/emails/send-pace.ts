import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Pace } from '../../platform/slots.ts';

// Time is given out, not tokens: each grant is a stretch of the one line of time on which all workers put their mails,
// so that no two are closer together than the rate allows. By the clock of the database alone.
const grant = statement<{ starts_in: number }>(
  'send-pace',
  `insert into send_rate as pace (next_at) values (clock_timestamp() + make_interval(secs => $1))
   on conflict (only_one) do update
     set next_at = greatest(pace.next_at, clock_timestamp()) + make_interval(secs => $1)
   returning extract(epoch from next_at - make_interval(secs => $1) - clock_timestamp())::float8 as starts_in`,
);

/** A stretch is at most so long: nobody else's first mail waits for longer, whatever its priority. */
const STRETCH_SECONDS = 0.1;
/** Who comes later than this to his place on the line has lost it. */
const LATE_MS = 20;
const AGAIN_MS = 500;

/** `SEND_RATE_PER_SECOND`: at most so many mails a second begin, over all workers that share the database. */
export class SendPace implements Pace {
  private readonly db: Db;
  private readonly perSecond: number;
  /** Places on the line that are ours, by our own clock. */
  private places: number[] = [];

  constructor(db: Db, perSecond: number) {
    this.db = db;
    this.perSecond = perSecond;
  }

  async next(wanted: number): Promise<void> {
    for (;;) {
      const place = this.places.shift();
      const now = performance.now();
      if (place === undefined) await this.refill(wanted);
      else if (place > now - LATE_MS) return place > now ? sleep(place - now) : undefined;
    }
  }

  /** Without the database nothing can be begun anyway. */
  private async refill(wanted: number): Promise<void> {
    const most = Math.max(1, Math.floor(this.perSecond * STRETCH_SECONDS));
    const count = Math.min(Math.max(wanted, 1), most);
    const asked = performance.now();
    try {
      const [row] = await grant(this.db, [count / this.perSecond]);
      // Counted from when the answer came: that is never too early.
      const first = performance.now() + (row?.starts_in ?? 0) * 1_000;
      this.places = Array.from({ length: count }, (_, n) => first + (n * 1_000) / this.perSecond);
    } catch {
      await sleep(Math.max(0, AGAIN_MS - (performance.now() - asked)));
    }
  }
}
