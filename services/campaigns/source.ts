// Leases batches of a campaign, and composes their mails ahead of sending.
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { RetryLater } from '../emails/deliver.ts';
import { removeBatch } from '../emails/delivery-batch.ts';
import { composeIsolated, failStuck } from '../emails/delivery-isolation.ts';
import { type Lease, leaseNextOf } from '../emails/delivery-lease.ts';
import { settleWireOf } from './book.ts';
import type { CampaignContent, ReadyMail } from './content.ts';

/** Rendered together, in one message to a renderer. */
const GROUP = 100;
/** So many lie ready or are being made ready: enough that no connection waits, little enough to fit into memory. */
const AHEAD = 300;

/** Who is still to get it, out of a batch. */
const pending = statement<{ id: string }>(
  'campaign-pending',
  `select id from emails where batch_id = $1 and status = 'PENDING' order by id`,
);

/** A batch in our hands. */
interface OpenBatch {
  lease: Lease;
  /** Mails of it that are not through yet. */
  left: number;
}

export interface SourcedMail {
  ready: ReadyMail;
  batch: OpenBatch;
}

interface Waiter {
  give: (mail: SourcedMail | undefined) => void;
  fail: (error: unknown) => void;
}

export interface SourceOptions {
  db: Db;
  campaignId: string;
  content: CampaignContent;
  /** Somebody else may have a batch of ours by now. */
  onLost: () => void;
  /** So many recipients have failed because they could not be composed. */
  onStuck: (count: number) => Promise<void>;
}

/**
 * The mails of a campaign, one after the other, made ready a little ahead of those who send them. Goes from batch to
 * batch: while the last mails of one are on the wire the next is being read.
 */
export class RecipientSource {
  private readonly options: SourceOptions;
  private readonly open = new Set<OpenBatch>();
  private readonly ready: SourcedMail[] = [];
  private readonly waiting: Waiter[] = [];
  private readonly filling: Promise<void>;
  private preparing = 0;
  private failure: { error: unknown } | undefined;
  private closed = false;
  private exhausted = false;
  private wakeFiller: (() => void) | undefined;

  constructor(options: SourceOptions) {
    this.options = options;
    this.filling = this.fill().catch((error) => this.fail(error));
  }

  /** The one that is given out next, where it lies ready. */
  peek(): SourcedMail | undefined {
    return this.closed ? undefined : this.ready[0];
  }

  take(): SourcedMail | undefined {
    const mail = this.peek();
    if (!mail) return undefined;
    this.ready.shift();
    this.wakeFiller?.();
    return mail;
  }

  /** Undefined: there are no more, for now. */
  next(): Promise<SourcedMail | undefined> {
    if (this.failure) return Promise.reject(this.failure.error);
    const mail = this.take();
    if (mail || this.isOver) return Promise.resolve(mail);
    return new Promise((give, fail) => this.waiting.push({ give, fail }));
  }

  /** A mail is through, whatever became of it. With the last one of a batch there is something to wait for. */
  done({ batch }: SourcedMail): Promise<void> | undefined {
    batch.left--;
    return batch.left === 0 ? this.finish(batch) : undefined;
  }

  /** All leases held, as far as one can know. */
  get holds(): boolean {
    for (const { lease } of this.open) if (!lease.check()) return false;
    return true;
  }

  /** Gives out no more, and gives back what is left. Call it when nothing is on the wire any more. */
  async close(): Promise<void> {
    this.stop();
    await this.filling;
    await Promise.all([...this.open].map(({ lease }) => lease.release().catch(() => {})));
    this.open.clear();
  }

  /** Whoever waits waits no longer. */
  stop(): void {
    this.closed = true;
    this.wakeFiller?.();
    for (const { give } of this.waiting.splice(0)) give(undefined);
  }

  private get isOver(): boolean {
    return this.closed || (this.exhausted && this.preparing === 0 && this.ready.length === 0);
  }

  private async fill(): Promise<void> {
    for (let batch = await this.lease(); batch; batch = await this.lease()) {
      const ids = await this.idsOf(batch);
      if (ids.length === 0) await this.finish(batch);
      const { isolated } = batch.lease;
      const size = isolated ? 1 : GROUP;
      for (let at = 0; at < ids.length && !this.closed; at += size) {
        await this.room();
        const preparing = this.closed ? undefined : this.prepare(batch, ids.slice(at, at + size));
        if (isolated) await preparing;
      }
    }
    this.exhausted = true;
    this.endIfOver();
  }

  private async lease(): Promise<OpenBatch | undefined> {
    if (this.closed) return undefined;
    const lease = await leaseNextOf(this.options.db, this.options.campaignId);
    if (!lease) return undefined;
    lease.lost.addEventListener('abort', this.options.onLost, { once: true });
    const batch = { lease, left: 0 };
    this.open.add(batch);
    return batch;
  }

  private async idsOf(batch: OpenBatch): Promise<string[]> {
    const { db } = this.options;
    await settleWireOf(db, batch.lease.batchId);
    const stuck = batch.lease.isolated ? await failStuck(db, batch.lease) : 0;
    if (stuck > 0) await this.options.onStuck(stuck);
    const rows = await pending(db, [batch.lease.batchId]);
    batch.left = rows.length;
    return rows.map(({ id }) => id);
  }

  private async room(): Promise<void> {
    while (!this.closed && !this.failure && this.ready.length + this.preparing >= AHEAD)
      await new Promise<void>((resolve) => {
        this.wakeFiller = resolve;
      });
  }

  private async prepare(batch: OpenBatch, ids: string[]): Promise<void> {
    this.preparing += ids.length;
    try {
      const mails = await this.compose(batch, ids);
      for (const ready of mails) this.offer({ ready, batch });
      // Those of a project that is being erased.
      batch.left -= ids.length - mails.length;
    } catch (error) {
      this.fail(error);
    } finally {
      this.preparing -= ids.length;
      this.endIfOver();
    }
  }

  private async compose({ lease }: OpenBatch, ids: string[]): Promise<ReadyMail[]> {
    const { db, content } = this.options;
    const [first] = ids;
    if (!lease.isolated || !first) return content.prepare(ids);
    const mails = await composeIsolated(db, lease, first, () => content.prepare(ids));
    if (!mails) throw new RetryLater('the lease on the batch is lost', 0);
    return mails;
  }

  private offer(mail: SourcedMail): void {
    const waiter = this.waiting.shift();
    if (waiter) waiter.give(mail);
    else this.ready.push(mail);
  }

  private endIfOver(): void {
    if (this.isOver) for (const { give } of this.waiting.splice(0)) give(undefined);
    this.wakeFiller?.();
  }

  private fail(error: unknown): void {
    this.failure ??= { error };
    this.closed = true;
    this.wakeFiller?.();
    for (const { fail } of this.waiting.splice(0)) fail(error);
  }

  /** Nothing of it is left, or something that must be tried again. */
  private async finish(batch: OpenBatch): Promise<void> {
    if (!this.open.delete(batch)) return;
    await removeBatch(this.options.db, batch.lease).catch(() => {});
    await batch.lease.release().catch(() => {});
  }
}
