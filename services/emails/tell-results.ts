import { type Db, inTransaction } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { messageId } from '../../platform/mailer.ts';

const BATCH = 200;

// Others may tell results at the same time: what one has in hand the other passes over.
const pick = statement<{ id: string; contact_id: string }>(
  'results-pick',
  `select id, contact_id from emails where not told and (sent_at is not null or status = 'FAILED')
   order by id limit $1 for update skip locked`,
);

// Whatever is recorded of a contact is recorded under its lock; addresses are the order in which everybody locks.
const lockContacts = statement(
  'results-contacts',
  `select 1 from contacts where id = any ($1::uuid[]) order by email collate "C" for update`,
);

interface ResultRow {
  id: string;
  project_id: string;
  contact_id: string;
  source_type: Email['sourceType'];
  template_id: string | null;
  reason: string | null;
  provider_message_id: string | null;
  sent_at: Date | null;
  updated_at: Date;
  from_email: string | null;
  subject: string | null;
}

// Contents are read under the locks: those of a contact that has just been deleted are gone.
const mark = statement<ResultRow>(
  'results-mark',
  `with told as (update emails set told = true where id = any ($1::uuid[]) returning *)
   select told.id, told.project_id, told.contact_id, told.source_type, told.template_id, told.reason,
     told.provider_message_id, told.sent_at, told.updated_at, c.from_email,
     coalesce(c.rendered_subject, c.subject) as subject
   from told left join email_contents c on c.email_id = told.id`,
);

const record = statement(
  'results-record',
  `insert into events (id, project_id, contact_id, name, data, email_id)
   select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::jsonb[], $6::uuid[])`,
);

/**
 * Records `email.sent` and `email.failed` for mail whose result is in the ledger, each once. Delivery itself never waits
 * for a contact. Gives back how many there were.
 */
export async function tellResults(db: Db, limit = BATCH): Promise<number> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const picked = await pick(trx, [limit]);
      if (picked.length === 0) return 0;
      await lockContacts(trx, [picked.map(({ contact_id }) => contact_id)]);
      const rows = await mark(trx, [picked.map(({ id }) => id)]);
      rows.sort((a, b) => timeOf(a) - timeOf(b));
      await record(trx, [
        rows.map(() => newId()),
        rows.map(({ project_id }) => project_id),
        rows.map(({ contact_id }) => contact_id),
        rows.map(({ sent_at }) => (sent_at ? 'email.sent' : 'email.failed')),
        rows.map((row) => JSON.stringify(dataOf(row))),
        rows.map(({ id }) => id),
      ]);
      return rows.length;
    }),
  );
}

const timeOf = ({ sent_at, updated_at }: ResultRow): number => (sent_at ?? updated_at).getTime();

/** What every event of a mail says; there are no campaigns and workflows yet. */
function dataOf(row: ResultRow): Record<string, unknown> {
  const { id, from_email: from, sent_at: sentAt } = row;
  return {
    emailId: id,
    messageId: from === null ? null : messageId({ id, from: { email: from } }),
    subject: row.subject,
    from,
    templateId: row.template_id,
    campaignId: null,
    workflowId: null,
    sourceType: row.source_type,
    ...(sentAt
      ? { sentAt: sentAt.toISOString(), providerMessageId: row.provider_message_id }
      : { failedAt: row.updated_at.toISOString(), reason: row.reason }),
  };
}
