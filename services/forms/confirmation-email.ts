import { type Db, wake } from '../../db/connect.ts';
import { sharedBodyId } from '../../db/models/email-body.ts';
import { type EmailContent, emailContentColumns, insertEmailsSql } from '../../db/models/email-writing.ts';
import { findSender } from '../../db/models/project-pages.ts';
import { Template } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type Language, languageOf } from '../../platform/languages.ts';
import { reserveMails } from '../billing/limits.ts';
import { canConfirm } from '../topics/confirmation.ts';
import { builtInEmail, type ConfirmationKind } from './email-texts.ts';

/** What is asked for, and how: of a form, or of a topic with doubleOptIn. */
export interface ConfirmationRequest {
  projectId: string;
  submissionId: string;
  email: string;
  /** Of a topic's choice, and where the email links to the contact's page; a form's confirmation has none. */
  contactId: string | null;
  kind: ConfirmationKind;
  locale: string | null;
  formName: string;
  topicNames: string[];
  templateId: string | null;
  from: string | null;
  fromName: string | null;
}

interface ProjectRow {
  language: string;
  billingCapped: boolean;
}

const readProject = statement<ProjectRow>(
  'confirmation-project',
  'select language, billing_capped from projects where id = $1',
);

// A confirmation without a contact has the id of its address, as a test email has, and publishes no events. The sender's
// domain is checked when it begins, as that of every email.
const insertEmail = statement(
  'confirmation-email',
  `with content as materialized (select * from json_to_recordset($3::json) as content (${emailContentColumns})),
   mail as materialized (
     select 1 as content, $2::uuid as id, coalesce($4::uuid, contact_id_of_address($1, $5)) as contact_id, $5::text as email,
       null::text as name, $6::uuid as template_id, $7::uuid as submission_id, $4::uuid is null as without_events
   ),
   ${insertEmailsSql('$1::uuid', 'template_id, submission_id, without_events')}
   select from accepted`,
);

/** RFC 3834: prevents automatic replies. */
const HEADERS = { 'Auto-Submitted': 'auto-generated' };

/**
 * Accepts a confirmation email as a TRANSACTIONAL one, in the transaction of its cause, and returns its id; undefined where
 * there is no sender any more. It contains nothing that a visitor has typed. Throws where a billing limit is reached.
 */
export async function writeConfirmation(trx: Db, request: ConfirmationRequest): Promise<string | undefined> {
  const { projectId, submissionId, email, contactId, kind, locale, formName, topicNames } = request;
  const [project] = await readProject(trx, [projectId]);
  const language = languageOf(locale, project?.language);
  const template = kind === 'already' ? undefined : await findTemplate(trx, request);
  const sender = await senderOf(trx, request, template);
  if (!sender) return undefined;
  if (project?.billingCapped) await reserveMails(trx, projectId, 1);
  const { subject, html } = template
    ? { subject: template.subject, html: template.body }
    : builtInEmail(kind, language);
  const id = newId();
  const content: EmailContent = {
    n: 1,
    body_id: sharedBodyId(id, projectId, { html, headers: HEADERS }),
    html,
    headers: HEADERS,
    shared: true,
    untracked: true,
    from_email: sender.email,
    from_name: sender.name,
    reply_to: template?.replyTo ?? null,
    subject,
    type: 'TRANSACTIONAL',
    variables: { locale: locale ?? language, formName, topicNames: listOf(topicNames, language) },
  };
  await insertEmail(trx, [
    projectId,
    id,
    JSON.stringify([content]),
    contactId,
    email,
    template?.id ?? null,
    submissionId,
  ]);
  wake(trx, 'mail');
  return id;
}

/** Undefined also where a billing limit is reached: it cannot be sent for now. */
export async function writeWithinBilling(trx: Db, request: ConfirmationRequest): Promise<string | undefined> {
  try {
    return await writeConfirmation(trx, request);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'BILLING_LIMIT_EXCEEDED') return undefined;
    throw error;
  }
}

/** Undefined where it has lost its link since: the built-in text takes its place. */
async function findTemplate(trx: Db, { projectId, templateId }: ConfirmationRequest): Promise<Template | undefined> {
  const template = templateId ? await Template.query(trx).findOne({ projectId, id: templateId }) : undefined;
  return template && canConfirm(template) ? template : undefined;
}

/** The template's, else that of form or topic, else that of the project's pages. */
async function senderOf(
  trx: Db,
  { projectId, from, fromName }: ConfirmationRequest,
  template: Template | undefined,
): Promise<{ email: string; name: string | null } | undefined> {
  if (template?.fromEmail) return { email: template.fromEmail, name: template.fromName };
  if (from) return { email: from, name: fromName };
  return findSender(trx, projectId);
}

const listOf = (names: string[], language: Language): string =>
  new Intl.ListFormat(language, { type: 'conjunction' }).format(names);
