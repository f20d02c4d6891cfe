// Inserts mails in any state, as if the API had accepted them, for tests of delivery.
import { type Db, inTransaction } from '../../db/connect.ts';
import { Email } from '../../db/models/email.ts';
import { newId } from '../../platform/ids.ts';

export interface MailRow {
  project: string;
  to: string;
  status: Email['status'];
  sourceType: Email['sourceType'];
  priority: number;
  attempts: number;
  unknownOutcomes: number;
  dueAt: Date;
  subject: string;
  fromEmail: string;
  fromName: string;
  replyTo: string;
}

/** Inserts one mail, whole, because a sender may be running. Its address is derived from its id by default. */
export const addMail = (db: Db, mail: Partial<MailRow> & { project: string }): Promise<string> =>
  inTransaction(db, (trx) => insertMail(trx, mail));

async function insertMail(trx: Db, mail: Partial<MailRow> & { project: string }): Promise<string> {
  const id = newId();
  await trx('emails').insert({
    id,
    projectId: mail.project,
    contactId: newId(),
    sourceType: mail.sourceType ?? 'TRANSACTIONAL',
    priority: mail.priority ?? 0,
    status: mail.status ?? 'PENDING',
    attempts: mail.attempts ?? 0,
    unknownOutcomes: mail.unknownOutcomes ?? 0,
    ...(mail.dueAt ? { dueAt: mail.dueAt } : {}),
  });
  await trx('email_bodies').insert({ id, projectId: mail.project, html: '<p>Hello</p>' });
  await trx('email_contents').insert({
    emailId: id,
    projectId: mail.project,
    bodyId: id,
    toEmail: mail.to ?? `${id}@example.com`,
    fromEmail: mail.fromEmail ?? 'shop@demo.localhost',
    fromName: mail.fromName ?? null,
    replyTo: mail.replyTo ?? null,
    subject: mail.subject ?? 'Hello',
  });
  return id;
}

export async function addMails(db: Db, count: number, mail: Partial<MailRow> & { project: string }): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await addMail(db, mail));
  return ids;
}

/** For tests that write results to `emails` directly: adds the `unpublished_email_results` that delivery would. */
export async function addUnpublishedResults(db: Db): Promise<void> {
  await db.raw(
    `insert into unpublished_email_results (email_id, contact_id)
     select id, contact_id from emails e where (e.sent_at is not null or e.status = 'FAILED') and not e.without_events
       and not exists (select 1 from events where email_id = e.id
         and name = case when e.sent_at is null then 'email.failed' else 'email.sent' end)
     on conflict do nothing`,
  );
}

export async function mailById(db: Db, id: string): Promise<Email> {
  const mail = await Email.query(db).findById(id);
  if (!mail) throw new Error(`there is no mail ${id}`);
  return mail;
}
