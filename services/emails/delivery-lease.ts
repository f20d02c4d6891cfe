import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';

const LEASE_SECONDS = 15;
const RENEW_MS = 3_000;
/** Without a renewal for this long the lease is as good as lost: well before anybody else can have it. */
const TRUST_MS = 10_000;

interface Taken {
  id: string;
  priority: number;
  isolated: boolean;
}

// A lease that is released leaves no token behind. One that ran out does, and isolates the batch for good.
const TAKEN = `lease_token = $2, lease_until = now() + make_interval(secs => $3),
  composing = case when lease_token is null then composing else coalesce(composing, '{}') end`;
const RETURNED = 'id, priority, composing is not null as isolated';

const take = statement<Taken>(
  'delivery-lease',
  `update delivery_batches set ${TAKEN} where id = $1 and lease_until <= now() returning ${RETURNED}`,
);
// Those of a campaign are taken one after the other by whoever has a hand free.
const takeNext = statement<Taken>(
  'delivery-lease-next',
  `update delivery_batches set ${TAKEN}
   where id = (
     select id from delivery_batches where campaign_id = $1 and lease_until <= now()
     order by id limit 1 for update skip locked
   )
   returning ${RETURNED}`,
);
const waitOf = statement<{ seconds: number }>(
  'delivery-lease-wait',
  `select extract(epoch from lease_until - now())::float8 as seconds from delivery_batches where id = $1`,
);
const renew = statement(
  'delivery-lease-renew',
  `update delivery_batches set lease_until = now() + make_interval(secs => $3)
   where id = $1 and lease_token = $2 returning id`,
);
const release = statement(
  'delivery-lease-release',
  'update delivery_batches set lease_token = null, lease_until = now() where id = $1 and lease_token = $2',
);

export type LeaseAnswer = { lease: Lease } | { heldForMs: number } | { gone: true };

export async function leaseBatch(db: Db, batchId: string): Promise<LeaseAnswer> {
  const token = newId();
  const asked = performance.now();
  const [batch] = await take(db, [batchId, token, LEASE_SECONDS]);
  if (batch) return { lease: new Lease(db, token, batch, asked) };
  const [wait] = await waitOf(db, [batchId]);
  return wait ? { heldForMs: Math.max(0, wait.seconds * 1_000) } : { gone: true };
}

/** Leases the first free batch of a campaign. */
export async function leaseNextOf(db: Db, campaignId: string): Promise<Lease | undefined> {
  const token = newId();
  const asked = performance.now();
  const [batch] = await takeNext(db, [campaignId, token, LEASE_SECONDS]);
  return batch && new Lease(db, token, batch, asked);
}

/**
 * The right to send the mails of a batch. Renews itself. When `lost` is set, another worker may have the lease, and
 * sending must stop at once.
 */
export class Lease {
  readonly batchId: string;
  readonly token: string;
  readonly priority: number;
  /** An earlier lease of the batch ran out: see `delivery-isolation.ts`. */
  readonly isolated: boolean;
  private readonly db: Db;
  private readonly losing = new AbortController();
  private readonly ending = new AbortController();
  private readonly keeping: Promise<void>;
  private renewedAt: number;

  constructor(db: Db, token: string, { id, priority, isolated }: Taken, takenAt: number) {
    this.db = db;
    this.batchId = id;
    this.token = token;
    this.priority = priority;
    this.isolated = isolated;
    this.renewedAt = takenAt;
    this.keeping = this.keep();
  }

  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** Asks the clock as well: a process that was frozen wakes up before its timers have told it. */
  check(): boolean {
    if (performance.now() - this.renewedAt > TRUST_MS) this.lose('it could not be renewed');
    return !this.lost.aborted;
  }

  /** Lets the next one in. The batch may be gone by now. */
  async release(): Promise<void> {
    this.ending.abort();
    await this.keeping;
    if (!this.lost.aborted) await release(this.db, [this.batchId, this.token]);
  }

  private async keep(): Promise<void> {
    for (;;) {
      await sleep(RENEW_MS, undefined, { signal: this.ending.signal }).catch(() => {});
      if (this.ending.signal.aborted) return;
      const asked = performance.now();
      // Not waited for longer than the trust lasts: a database that hangs is as bad as none.
      const answer = await Promise.race([
        renew(this.db, [this.batchId, this.token, LEASE_SECONDS]).catch(() => undefined),
        sleep(RENEW_MS, undefined, { ref: false }),
      ]);
      if (answer?.length === 0) this.lose('somebody else has it');
      if (answer?.length) this.renewedAt = asked;
      if (!this.check()) return;
    }
  }

  private lose(reason: string): void {
    if (!this.lost.aborted) this.losing.abort(new Error(`the lease on the batch is lost: ${reason}`));
  }
}
