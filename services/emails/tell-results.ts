import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { noteUsage } from '../billing/usage.ts';
import {
  lockContactsOf,
  type MailEvent,
  type MailFacts,
  mailEventData,
  mailFacts,
  mailFactsFrom,
  recordMailEvents,
} from './mail-events.ts';

const BATCH = 200;

// Others may tell results at the same time: what one has in hand the other passes over.
const pick = statement<{ id: string; contact_id: string }>(
  'results-pick',
  `select id, contact_id from emails where not told and (sent_at is not null or status = 'FAILED')
   order by id limit $1 for update skip locked`,
);

interface ResultRow extends MailFacts {
  reason: string | null;
  provider_message_id: string | null;
  sent_at: Date | null;
  updated_at: Date;
}

// Contents are read under the locks: those of a contact that has just been deleted are gone.
const mark = statement<ResultRow>(
  'results-mark',
  `with told as (update emails set told = true where id = any ($1::uuid[]) returning *)
   select ${mailFacts('told')}, told.reason, told.provider_message_id, told.sent_at, told.updated_at
   from told ${mailFactsFrom('told')}`,
);

/**
 * Records `email.sent` and `email.failed` for mail whose result is in the ledger, each once. Delivery itself never waits
 * for a contact. Where there is `billing`, what was sent is noted for it. Gives back how many there were.
 */
export async function tellResults(db: Db, limit = BATCH, { billing = false } = {}): Promise<number> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const picked = await pick(trx, [limit]);
      if (picked.length === 0) return 0;
      await lockContactsOf(
        trx,
        picked.map(({ contact_id }) => contact_id),
      );
      const rows = await mark(trx, [picked.map(({ id }) => id)]);
      rows.sort((a, b) => timeOf(a) - timeOf(b));
      await recordMailEvents(trx, rows.map(eventOf));
      if (billing) await noteUsage(trx, rows);
      return rows.length;
    }),
  );
}

const timeOf = ({ sent_at, updated_at }: ResultRow): number => (sent_at ?? updated_at).getTime();

function eventOf(row: ResultRow): MailEvent {
  const { sent_at: sentAt, updated_at: failedAt, provider_message_id: providerMessageId, reason } = row;
  const more = sentAt
    ? { sentAt: sentAt.toISOString(), providerMessageId }
    : { failedAt: failedAt.toISOString(), reason };
  return { name: sentAt ? 'email.sent' : 'email.failed', mail: row, data: mailEventData(row, more) };
}
