import { type Db, inTransaction } from '../../db/connect.ts';
import { recordingEvents } from '../../db/models/event-writing.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { noteUsage } from '../billing/usage.ts';
import { lockContactsOf, mailEventSelect, recordSameEvents } from './mail-events.ts';

export const RESULTS_AT_ONCE = 200;

/**
 * For whoever writes a result: an insert of the mails in `source`, a row of the ledger each. So the ledger itself, which
 * has many indexes, is not written once more when they are told. A mail whose last result is still to be told is locked
 * there: whoever tells meanwhile would take its place in the queue along with the result from before.
 */
export const tellingOf = (source: string): string =>
  `insert into email_results (email_id, contact_id) select id, contact_id from (select * from ${source}) result
   where not quiet on conflict (email_id) do update set contact_id = excluded.contact_id`;

// Others may tell results at the same time: what one has in hand the other passes over.
const pick = statement<{ email_id: string; contact_id: string }>(
  'results-pick',
  `delete from email_results where email_id = any (array(
     select email_id from email_results order by email_id limit $1 for update skip locked))
   returning email_id, contact_id`,
);

const iso = (time: string): string => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

// Read under the locks: what there was of a contact that has just been deleted is gone. What is to be sent once more has
// no result, for now.
const record = statement(
  'results-record',
  recordingEvents(
    `${mailEventSelect(
      'mail.sent_at is not null',
      {
        name: "'email.sent'",
        more: `'sentAt', ${iso('mail.sent_at')}, 'providerMessageId', mail.provider_message_id`,
      },
      { name: "'email.failed'", more: `'failedAt', ${iso('mail.updated_at')}, 'reason', mail.reason` },
    )} and (mail.sent_at is not null or mail.status = 'FAILED')
     order by coalesce(mail.sent_at, mail.updated_at)`,
  ),
);

/**
 * Records `email.sent` and `email.failed` for mail whose result is in the ledger, each once. Delivery itself never waits
 * for a contact. Where there is `billing`, what was sent is noted for it. Gives back how many there were.
 */
export async function tellResults(db: Db, limit = RESULTS_AT_ONCE, { billing = false } = {}): Promise<number> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const picked = await pick(trx, [limit]);
      if (picked.length === 0) return 0;
      await lockContactsOf(
        trx,
        picked.map(({ contact_id }) => contact_id),
      );
      const ids = picked.map(({ email_id }) => email_id);
      await recordSameEvents(trx, ids, record);
      if (billing) await noteUsage(trx, ids);
      return picked.length;
    }),
  );
}
