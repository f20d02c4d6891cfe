import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { processTimings, type Timings } from '../../platform/timings.ts';

const insert = statement(
  'sender-insert',
  'insert into senders (id, lease_until) values ($1, now() + make_interval(secs => $2))',
);
const renew = statement<{ id: string }>(
  'sender-renew',
  `update senders set lease_until = now() + make_interval(secs => $2) where id = $1 and lease_until > now() returning id`,
);
// Recovery removes the row, once no mail of the sender is left.
const end = statement('sender-end', 'update senders set lease_until = now() where id = $1');

/** The right of this process to send mail: a row of `senders`. Renews itself. Once lost, no further mail may begin. */
export class SenderLease {
  readonly id = newId();
  private readonly db: Db;
  private readonly timings: Timings['senderLease'];
  private readonly ending = new AbortController();
  private readonly losing = new AbortController();
  private renewing: Promise<void> = Promise.resolve();
  private renewedAt = Number.NEGATIVE_INFINITY;

  private constructor(db: Db, timings: Timings['senderLease']) {
    this.db = db;
    this.timings = timings;
  }

  static async take(db: Db, timings = processTimings.senderLease): Promise<SenderLease> {
    const lease = new SenderLease(db, timings);
    const askedAt = performance.now();
    await insert(db, [lease.id, timings.lease / 1_000]);
    lease.renewedAt = askedAt;
    lease.renewing = lease.keepRenewing();
    return lease;
  }

  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** Compares with the clock as well, because a process that was stopped resumes before its timers fire. */
  isValid(): boolean {
    if (performance.now() - this.renewedAt > this.timings.trust) this.lose('it could not be renewed');
    return !this.lost.aborted;
  }

  /** Ends the lease. Mail that it still has goes to other senders. */
  async release(): Promise<void> {
    this.ending.abort();
    await this.renewing;
    await end(this.db, [this.id]).catch(() => {});
  }

  private async keepRenewing(): Promise<void> {
    const { lease, renew: renewMs } = this.timings;
    for (;;) {
      await sleep(renewMs, undefined, { signal: this.ending.signal }).catch(() => {});
      if (this.ending.signal.aborted) return;
      const askedAt = performance.now();
      // Bounded, because a database that hangs is no better than one that fails.
      const rows = await Promise.race([
        renew(this.db, [this.id, lease / 1_000]).catch(() => undefined),
        sleep(renewMs, undefined, { ref: false }),
      ]);
      if (rows?.length === 0) this.lose('it ran out');
      if (rows?.length) this.renewedAt = askedAt;
      if (!this.isValid()) return;
    }
  }

  private lose(reason: string): void {
    if (!this.lost.aborted) this.losing.abort(new Error(`the right to send is lost: ${reason}`));
  }
}
