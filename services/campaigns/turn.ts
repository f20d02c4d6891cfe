// The statement that stores results of campaign mails and begins others.
import type { Db } from '../../db/connect.ts';
import type { PinnedConnection } from '../../db/pinned-connection.ts';
import { plainArray, statement } from '../../db/statement.ts';
import { attemptOutcome } from '../emails/attempts.ts';
import type { Holder } from '../emails/delivery-ledger.ts';
import type { MailInFlight, Settlement } from '../emails/delivery-settlement.ts';
import type { ReadyMail } from './content.ts';

export type Begin =
  | { verdict: 'go'; mail: MailInFlight }
  /** Its recipient no longer wants it, or is no more; the row says so. */
  | { verdict: 'skipped' }
  /** The campaign is paused, cancelled or over. */
  | { verdict: 'stopped' }
  /** Something stands in the way of all its mail. */
  | { verdict: 'blocked'; reason: string }
  /** No longer ours, or no longer to be sent. */
  | { verdict: 'passed over' }
  /** The turn could not be taken. */
  | { verdict: 'failed'; error: unknown };

export interface BeginAsk {
  campaignId: string;
  holder: Holder;
  ready: ReadyMail;
}

/** How an attempt has ended. */
export interface AttemptEnd {
  id: string;
  holder: Holder;
  attempts: number;
  settlement: Settlement;
}

interface TurnRow {
  id: string;
  /** `late`: nothing is on the wire of what was said to have ended. */
  verdict: 'go' | 'skip' | 'stopped' | 'blocked' | 'late';
  reason: string | null;
  number: number;
}

const turn = statement<TurnRow>(
  'campaign-turn',
  'select * from write_campaign_mails($1, $2, $3, $4, $5, $6, $7, $8, $9)',
);

const skip = statement(
  'campaign-skip',
  `update emails e set status = 'SKIPPED', reason = asked.reason, updated_at = now()
   from unnest($1::uuid[], $2::text[]) as asked (id, reason) where e.id = asked.id and e.status = 'PENDING'`,
);

export interface Turn {
  begun: Begin[];
  /** Those of whom nothing is on the wire any more: somebody else has taken them for lost. */
  late: Set<string>;
}

/**
 * The two writes of a mail, that before the wire and that after it, for a handful at a time and in one go: as some come
 * off the wire others are about to be put there. An ended mail is in no doubt any more when the next one is begun. Those
 * that are begun are of one campaign.
 */
export async function takeTurn(db: Db | PinnedConnection, begins: BeginAsk[], ends: AttemptEnd[]): Promise<Turn> {
  const rows = await turn(db, [...beginColumns(begins), ...endColumns(ends)]);
  const late = new Set(rows.filter(({ verdict }) => verdict === 'late').map(({ id }) => id));
  const byId = new Map(rows.filter(({ verdict }) => verdict !== 'late').map((row) => [row.id, row]));
  // Not to be undone by this: whoever is not skipped now is at the next turn.
  await skipSome(
    db,
    [...byId.values()].filter(({ verdict }) => verdict === 'skip'),
  ).catch(() => {});
  return { begun: begins.map(({ ready }) => beginOf(byId.get(ready.id))), late };
}

/** Few are, and the ledger is costly to write: it is left out of the turn. */
async function skipSome(db: Db | PinnedConnection, rows: TurnRow[]): Promise<void> {
  if (rows.length > 0) await skip(db, [rows.map(({ id }) => id), rows.map(({ reason }) => reason)]);
}

function beginColumns(asks: BeginAsk[]): unknown[] {
  const holders = [...new Set(asks.map(({ holder }) => holder))];
  return [
    asks[0]?.campaignId,
    plainArray(holders.map(({ batchId }) => batchId)),
    plainArray(holders.map(({ token }) => token)),
    plainArray(asks.map(({ ready }) => ready.id)),
    asks.map(({ ready }) => ready.subject),
    asks.map(({ ready }) => ready.to),
  ];
}

/** The results as `book.ts` reads them. */
export const endColumns = (ends: Pick<AttemptEnd, 'id' | 'attempts' | 'settlement'>[]): unknown[] => [
  plainArray(ends.map(({ id }) => id)),
  plainArray(ends.map(({ attempts }) => attempts)),
  JSON.stringify(ends.map(({ settlement }) => ({ ...settlement, outcome: attemptOutcome(settlement) ?? undefined }))),
];

function beginOf(row: TurnRow | undefined): Begin {
  if (!row || row.verdict === 'late') return { verdict: 'passed over' };
  if (row.verdict === 'blocked') return { verdict: 'blocked', reason: row.reason ?? 'blocked' };
  if (row.verdict === 'skip') return { verdict: 'skipped' };
  if (row.verdict === 'stopped') return { verdict: 'stopped' };
  return { verdict: 'go', mail: { id: row.id, sourceType: 'CAMPAIGN', attempts: row.number, unknownOutcomes: 0 } };
}
