import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { recordingEvents } from '../../db/models/event-writing.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { messageDomain } from '../../platform/mailer.ts';
import { recordUsage } from '../billing/usage.ts';
import { lockContactsOf, mailData, mailDepth, mailFactsFrom, mailSender } from './mail-events.ts';

export const RESULTS_PER_BATCH = 200;

/**
 * For whoever writes a result: an insert of the mails in `source`, a row of the ledger each. So the ledger itself, which
 * has many indexes, is not written once more when they are told. A mail whose last result is still to be told is locked
 * there: whoever tells meanwhile would take its place in the queue along with the result from before.
 */
export const queueingResults = (source: string): string =>
  `insert into unpublished_email_results (email_id, contact_id) select id, contact_id from (select * from ${source}) result
   where not without_events on conflict (email_id) do update set contact_id = excluded.contact_id`;

// Others may tell results at the same time: what one has in hand the other passes over.
const pick = statement<{ email_id: string; contact_id: string }>(
  'results-pick',
  `delete from unpublished_email_results where email_id = any (array(
     select email_id from unpublished_email_results order by email_id limit $1 for update skip locked))
   returning email_id, contact_id`,
);

const iso = (time: string): string => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const MESSAGE_ID = `'messageId', '<' || mail.id || '@' || sender.domain || '>'`;
const SENT = `'sentAt', ${iso('mail.sent_at')}, 'providerMessageId', mail.provider_message_id`;
const FAILED = `'failedAt', ${iso('mail.updated_at')}, 'reason', mail.reason`;

/**
 * Records what has become of the mails in `mails`: ledger rows \`mail\` with what `mailFactsFrom` joins to them, whose
 * contacts are locked. What the Message-IDs of `senders` (two arrays) end in, only the program knows.
 */
export const recordingResults = (mails: string, senders: string): string =>
  recordingEvents(
    `select uuidv7(), mail.project_id, mail.contact_id,
       case when mail.sent_at is null then 'email.failed' else 'email.sent' end,
       case when mail.sent_at is null then ${mailData('mail', MESSAGE_ID, FAILED)}
         else ${mailData('mail', MESSAGE_ID, SENT)} end,
       mail.id, ${mailDepth}
     from ${mails} left join unnest(${senders}) as sender (email, domain) on sender.email = ${mailSender}
     where mail.sent_at is not null or mail.status = 'FAILED'
     order by coalesce(mail.sent_at, mail.updated_at)`,
  );

/** As `recordingResults` wants them. */
export const senderColumns = (emails: string[]): [string[], string[]] => [
  emails,
  emails.map((email) => messageDomain({ email })),
];

const senders = statement<{ from_email: string }>(
  'results-senders',
  `select distinct ${mailSender} as from_email from emails mail ${mailFactsFrom('mail')}
   where mail.id = any ($1::uuid[]) and ${mailSender} is not null`,
);

// Read under the locks: what there was of a contact that has just been deleted is gone. What is to be sent once more has
// no result, for now. None of it comes here and goes back, but for what Message-IDs end in.
const record = statement(
  'results-record',
  recordingResults(
    `(select * from emails where id = any ($1::uuid[])) mail ${mailFactsFrom('mail')}`,
    '$2::text[], $3::text[]',
  ),
);

/**
 * Records `email.sent` and `email.failed` for mail whose result is in the ledger, each once. Delivery itself never waits
 * for a contact. Where there is `billing`, what was sent is noted for it. Gives back how many there were.
 */
export async function publishResults(db: Db, limit = RESULTS_PER_BATCH, { billing = false } = {}): Promise<number> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const picked = await pick(trx, [limit]);
      if (picked.length === 0) return 0;
      await lockContactsOf(
        trx,
        picked.map(({ contact_id }) => contact_id),
      );
      const ids = picked.map(({ email_id }) => email_id);
      const from = (await senders(trx, [ids])).map(({ from_email }) => from_email);
      await record(trx, [ids, ...senderColumns(from)]);
      wake(trx, 'events');
      if (billing) await recordUsage(trx, ids);
      return picked.length;
    }),
  );
}
