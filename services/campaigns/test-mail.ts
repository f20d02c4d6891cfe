import { type Db, wake } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Contact } from '../../db/models/contact.ts';
import { Domain } from '../../db/models/domain.ts';
import { type EmailContent, emailContentColumns, insertEmailsSql } from '../../db/models/email-writing.ts';
import { statement } from '../../db/statement.ts';
import { badRequest, validationError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireScope } from '../access/scopes.ts';
import { writing } from '../access/write-transaction.ts';
import { reserveMails } from '../billing/limits.ts';
import type { Data } from '../contacts/data.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import { findTemplate } from '../templates/find.ts';
import { findCampaign } from './find.ts';

const PREFIX = '[TEST] ';
/** The longest line of a mail, RFC 5322 section 2.1.1. */
const MAX_SUBJECT = 998;

// Sent as transactional mail, without events. It shows its topic, but its recipient need not receive the topic.
const insertMail = statement(
  'campaign-test',
  `with content as materialized (select * from json_to_recordset($3::json) as content (${emailContentColumns})),
   mail as materialized (
     select 1 as content, $2::uuid as id, coalesce($4::uuid, contact_id_of_address($1, $5)) as contact_id, $5::text as email,
       null::text as name, $6::uuid as template_id, $7::uuid as topic_id, true as without_events
   ),
   ${insertEmailsSql('$1::uuid', 'template_id, topic_id, without_events')}
   select from accepted`,
);

type TestedMail = Pick<
  Campaign,
  'fromEmail' | 'fromName' | 'replyTo' | 'subject' | 'body' | 'type' | 'templateId' | 'topicId'
>;

/** Who gets a test. */
export interface TestRecipient {
  email: string;
  /** Whose data is used, instead of that of the contact with the address. */
  contactId?: string | undefined;
}

/** Sends the campaign's mail to one address, rendered with the data of its contact if there is one. */
export async function sendTestMail(db: Db, project: ProjectAccess, id: string, to: TestRecipient): Promise<void> {
  await writing(db, project, async (trx) =>
    insertTest(trx, project, await findCampaign(trx, project.projectId, id), to),
  );
}

/** Sends the template's mail to one address. A template without a sender is sent from a verified domain. */
export async function sendTemplateTestMail(
  db: Db,
  project: ProjectAccess,
  id: string,
  to: TestRecipient,
): Promise<void> {
  const { projectId } = project;
  await writing(db, project, async (trx) => {
    const template = await findTemplate(trx, projectId, id);
    const fromEmail = template.fromEmail ?? (await defaultSender(trx, projectId));
    await insertTest(trx, project, { ...template, fromEmail, templateId: template.id }, to);
  });
}

async function defaultSender(trx: Db, projectId: string): Promise<string> {
  const domain = await Domain.query(trx).findOne({ projectId, status: 'VERIFIED' }).orderBy('id').limit(1);
  if (!domain) throw badRequest('The template has no sender, and the project has no verified domain to send from.');
  return `no-reply@${domain.domain}`;
}

/**
 * The data of the contact, and null for what the recipient alone has. The test stays one of the recipient: its links must
 * not unsubscribe anyone else.
 */
async function dataOf(
  trx: Db,
  project: ProjectAccess,
  contactId: string,
  recipient: Contact | undefined,
): Promise<Data> {
  requireScope(project, 'contacts:read');
  const { projectId } = project;
  const contact = await Contact.query(trx).findOne({ projectId, id: contactId }).select('data');
  if (!contact)
    throw validationError([
      { field: 'contactId', code: 'custom', message: '"contactId" is no contact of this project' },
    ]);
  const absent = Object.keys(recipient?.data ?? {}).map((name) => [name, null]);
  return { ...Object.fromEntries(absent), ...contact.data };
}

async function insertTest(
  trx: Db,
  project: ProjectAccess,
  mail: TestedMail,
  { email, contactId }: TestRecipient,
): Promise<void> {
  const { projectId } = project;
  const { fromEmail, fromName, replyTo, subject, body, type, templateId, topicId } = mail;
  await requireVerifiedSender(trx, projectId, fromEmail);
  const contact = await Contact.query(trx).findOne({ projectId, email }).select('id', 'data');
  const id = newId();
  const content: EmailContent = {
    n: 1,
    body_id: id,
    html: body,
    shared: false,
    untracked: true,
    from_email: fromEmail,
    from_name: fromName,
    reply_to: replyTo,
    subject: `${PREFIX}${subject}`.slice(0, MAX_SUBJECT),
    type,
    ...(contactId !== undefined && { variables: await dataOf(trx, project, contactId, contact) }),
  };
  if (project.countsOnAccept) await reserveMails(trx, projectId, 1);
  await insertMail(trx, [projectId, id, JSON.stringify([content]), contact?.id ?? null, email, templateId, topicId]);
  wake(trx, 'mail');
}
