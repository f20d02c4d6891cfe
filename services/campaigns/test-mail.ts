import { type Db, wake } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Contact } from '../../db/models/contact.ts';
import { Domain } from '../../db/models/domain.ts';
import { statement } from '../../db/statement.ts';
import { badRequest } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { reserveMails } from '../billing/caps.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import { findTemplate } from '../templates/find.ts';
import { findCampaign } from './find.ts';

const PREFIX = '[TEST] ';
/** The longest line of a mail, RFC 5322 section 2.1.1. */
const MAX_SUBJECT = 998;

// Sent as transactional mail, without events.
const insertMail = statement(
  'campaign-test',
  `with body as (
     insert into email_bodies (id, project_id, html) values ($1::uuid, $2::uuid, $9::text)
   ),
   content as (
     insert into email_contents
       (email_id, project_id, body_id, to_email, from_email, from_name, reply_to, subject, type, untracked)
     values ($1::uuid, $2::uuid, $1::uuid, $4::text, $5::text, $6::text, $7::text, $8::text, $10::text, true)
   )
   insert into emails (id, project_id, contact_id, template_id, without_events) values
     ($1, $2, coalesce($3, contact_id_of_address($2, $4)), $11, true)`,
);

type TestedMail = Pick<Campaign, 'fromEmail' | 'fromName' | 'replyTo' | 'subject' | 'body' | 'type' | 'templateId'>;

/** Sends the campaign's mail to one address, rendered with the data of its contact if there is one. */
export async function sendTestMail(db: Db, project: ProjectAccess, id: string, email: string): Promise<void> {
  await writing(db, project, async (trx) =>
    insertTest(trx, project, await findCampaign(trx, project.projectId, id), email),
  );
}

/** Sends the template's mail to one address. A template without a sender is sent from a verified domain. */
export async function sendTemplateTestMail(db: Db, project: ProjectAccess, id: string, email: string): Promise<void> {
  const { projectId } = project;
  await writing(db, project, async (trx) => {
    const template = await findTemplate(trx, projectId, id);
    const fromEmail = template.fromEmail ?? (await defaultSender(trx, projectId));
    await insertTest(trx, project, { ...template, fromEmail, templateId: template.id }, email);
  });
}

async function defaultSender(trx: Db, projectId: string): Promise<string> {
  const domain = await Domain.query(trx).findOne({ projectId, status: 'VERIFIED' }).orderBy('id').limit(1);
  if (!domain) throw badRequest('The template has no sender, and the project has no verified domain to send from.');
  return `no-reply@${domain.domain}`;
}

async function insertTest(trx: Db, project: ProjectAccess, mail: TestedMail, email: string): Promise<void> {
  const { projectId } = project;
  const { fromEmail, fromName, replyTo, subject, body, type, templateId } = mail;
  await requireVerifiedSender(trx, projectId, fromEmail);
  const contact = await Contact.query(trx).findOne({ projectId, email }).select('id');
  const recipient = [newId(), projectId, contact?.id ?? null, email];
  const content = [fromEmail, fromName, replyTo, `${PREFIX}${subject}`.slice(0, MAX_SUBJECT), body, type, templateId];
  if (project.capped) await reserveMails(trx, projectId, 1);
  await insertMail(trx, [...recipient, ...content]);
  wake(trx, 'mail');
}
