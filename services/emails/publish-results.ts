import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { insertEventsSql } from '../../db/models/event-writing.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { messageDomain } from '../../platform/mime/compose.ts';
import { recordUsage } from '../billing/usage.ts';
import { lockContactsOf, mailData, mailDepth, mailFactsJoins, mailSender } from './mail-events.ts';
import { isRefused, publishRefusals } from './publish-refusals.ts';

export const RESULTS_PER_BATCH = 200;

/**
 * SQL that queues the results of the ledger rows in `source` for publishing. A separate queue avoids another update of
 * `emails`, which has many indexes. ON CONFLICT updates, and so locks, a row that is still queued; otherwise a concurrent
 * publisher could delete it together with the new result. Confirmations of forms have no events, but count as usage.
 */
export const insertUnpublishedResults = (source: string): string =>
  `insert into unpublished_email_results (email_id, contact_id) select id, contact_id from (select * from ${source}) result
   where not without_events or submission_id is not null on conflict (email_id) do update set contact_id = excluded.contact_id`;

// Workers run this concurrently: SKIP LOCKED gives each its own results.
const pick = statement<{ emailId: string; contactId: string }>(
  'results-pick',
  `delete from unpublished_email_results where email_id = any (array(
     select email_id from unpublished_email_results order by email_id limit $1 for update skip locked))
   returning email_id, contact_id`,
);

const MESSAGE_ID = `'messageId', '<' || mail.id || '@' || sender.domain || '>'`;
const SENT = `'sentAt', json_time(mail.sent_at), 'providerMessageId', mail.provider_message_id`;
const FAILED = `'failedAt', json_time(mail.updated_at), 'reason', mail.reason`;

/**
 * SQL that records the result events of `mails`: ledger rows `mail` with the joins of `mailFactsJoins`, whose contacts
 * are locked. `senders` are two arrays with the Message-ID domain of each sender, which only the program can compute.
 */
export const insertResultEvents = (mails: string, senders: string): string =>
  insertEventsSql(
    `select uuidv7(), mail.project_id, mail.contact_id,
       case when mail.sent_at is null then 'email.failed' else 'email.sent' end,
       case when mail.sent_at is null then ${mailData('mail', MESSAGE_ID, FAILED)}
         else ${mailData('mail', MESSAGE_ID, SENT)} end,
       mail.id, ${mailDepth}
     from ${mails} left join unnest(${senders}) as sender (email, domain) on sender.email = ${mailSender}
     where mail.sent_at is not null or mail.status = 'FAILED'
     order by coalesce(mail.sent_at, mail.updated_at)`,
  );

/** Returns the `senders` arrays of `recordingResults`. */
export const senderDomainArrays = (emails: string[]): [string[], string[]] => [
  emails,
  emails.map((email) => messageDomain({ email })),
];

const senders = statement<{ fromEmail: string | null; hasRefused: boolean }>(
  'results-senders',
  `select ${mailSender} as from_email, bool_or(${isRefused('mail')}) as has_refused
   from emails mail ${mailFactsJoins('mail')} where mail.id = any ($1::uuid[]) group by 1`,
);

// Reads the mails under the locks, so that erased content of a contact that was just deleted is not recorded. A mail that
// is to be sent again has no result for now.
const record = statement(
  'results-record',
  insertResultEvents(
    `(select * from emails where id = any ($1::uuid[]) and not without_events) mail ${mailFactsJoins('mail')}`,
    '$2::text[], $3::text[]',
  ),
);

/**
 * Records `email.sent`, `email.failed` and, for refused recipients, `email.bounce` for results in the ledger, each once.
 * Separate from delivery, so that delivery
 * never waits for a contact's lock. With `billing`, records the usage too. Returns the number of results.
 */
export async function publishResults(db: Db, limit = RESULTS_PER_BATCH, { billing = false } = {}): Promise<number> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const picked = await pick(trx, [limit]);
      if (picked.length === 0) return 0;
      await lockContactsOf(
        trx,
        picked.map(({ contactId }) => contactId),
      );
      const ids = picked.map(({ emailId }) => emailId);
      const found = await senders(trx, [ids]);
      const from = found.flatMap(({ fromEmail }) => fromEmail ?? []);
      await record(trx, [ids, ...senderDomainArrays(from)]);
      if (found.some(({ hasRefused }) => hasRefused)) await publishRefusals(trx, ids);
      wake(trx, 'events');
      if (billing) await recordUsage(trx, ids);
      return picked.length;
    }),
  );
}
