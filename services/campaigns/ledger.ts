import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { coalesced } from '../../platform/coalesce.ts';
import { finishAll, type Holder, inCompany, type LedgerWrites } from '../emails/delivery-ledger.ts';
import type { MailInFlight } from '../emails/delivery-settlement.ts';
import type { ReadyMail } from './content.ts';

export type Begin =
  | { verdict: 'go'; mail: MailInFlight }
  /** Its recipient no longer wants it, or is no more; the row says so. */
  | { verdict: 'skipped' }
  /** The campaign is paused, cancelled or over. */
  | { verdict: 'stopped' }
  /** Something stands in the way of all its mail. */
  | { verdict: 'held'; reason: string }
  /** No longer ours, or no longer to be sent. */
  | { verdict: 'passed over' };

interface BegunRow {
  id: string;
  verdict: 'go' | 'skipped' | 'stopped' | 'held';
  reason: string | null;
  attempts: number;
  unknown_outcomes: number;
}

const begin = statement<BegunRow>('campaign-begin', 'select * from begin_campaign_mails($1, $2, $3, $4, $5, $6)');

const postpone = statement(
  'campaign-postpone',
  `update emails e set batch_id = null, reason = r.reason, due_at = now() + make_interval(secs => r.seconds),
     updated_at = now()
   from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::float8[]) as r (id, batch_id, token, reason, seconds)
   join delivery_batches b on b.id = r.batch_id and b.lease_token = r.token
   where e.id = r.id and e.batch_id = r.batch_id and e.status = 'PENDING'`,
);

export interface PutOff {
  id: string;
  holder: Holder;
  reason: string;
  seconds: number;
}

/** Takes mails out of their batches until later, without an attempt. */
export const postponer = (db: Db): ((mail: PutOff) => Promise<void>) =>
  coalesced(async (mails) => {
    await postpone(db, [
      mails.map(({ id }) => id),
      mails.map(({ holder }) => holder.batchId),
      mails.map(({ holder }) => holder.token),
      mails.map(({ reason }) => reason),
      mails.map(({ seconds }) => seconds),
    ]);
    return mails.map(() => undefined);
  });

export interface BeginAsk {
  campaignId: string;
  holder: Holder;
  ready: ReadyMail;
}

/** The write right before the wire. All mails of a campaign in this process share it, so that they come in handfuls. */
export const beginner = (db: Db, connections: number): ((ask: BeginAsk) => Promise<Begin>) =>
  coalesced(async (asks) => {
    const begun = new Map<BeginAsk, Begin>();
    for (const group of byBatch(asks)) await beginGroup(db, group, begun);
    return asks.map((ask) => begun.get(ask) ?? { verdict: 'passed over' });
  }, inCompany(connections));

/** The write right after it. */
export const finisher = (db: Db, connections: number): LedgerWrites['finish'] =>
  coalesced((finishes) => finishAll(db, finishes), inCompany(connections));

function byBatch(asks: BeginAsk[]): BeginAsk[][] {
  const groups = new Map<string, BeginAsk[]>();
  for (const ask of asks) {
    const group = groups.get(ask.holder.token);
    if (group) group.push(ask);
    else groups.set(ask.holder.token, [ask]);
  }
  return [...groups.values()];
}

async function beginGroup(db: Db, asks: BeginAsk[], begun: Map<BeginAsk, Begin>): Promise<void> {
  const [first] = asks;
  if (!first) return;
  const { campaignId, holder } = first;
  const rows = await begin(db, [
    ...[campaignId, holder.batchId, holder.token],
    asks.map(({ ready }) => ready.id),
    asks.map(({ ready }) => ready.subject),
    asks.map(({ ready }) => ready.to),
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const ask of asks) begun.set(ask, beginOf(byId.get(ask.ready.id)));
}

function beginOf(row: BegunRow | undefined): Begin {
  if (!row) return { verdict: 'passed over' };
  if (row.verdict === 'held') return { verdict: 'held', reason: row.reason ?? 'held' };
  if (row.verdict !== 'go') return { verdict: row.verdict };
  const { id, attempts, unknown_outcomes: unknownOutcomes } = row;
  return { verdict: 'go', mail: { id, sourceType: 'CAMPAIGN', attempts, unknownOutcomes } };
}
