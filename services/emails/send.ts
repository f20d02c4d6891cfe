import { coalesceWrites, confirmed } from '../../db/coalesce-writes.ts';
import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { Contact } from '../../db/models/contact.ts';
import { sharedBodyId } from '../../db/models/email-body.ts';
import { type EmailContent, emailContentColumns, insertEmailsSql } from '../../db/models/email-writing.ts';
import { fieldsFit } from '../../db/models/name-limits.ts';
import { isSuppressed } from '../../db/models/suppression.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { type ApiError, badRequest, unverifiedSender } from '../../platform/errors.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { newId } from '../../platform/ids.ts';
import type { Limits } from '../../platform/limits.ts';
import { linkToRow } from '../../platform/tracing.ts';
import { consentContextOf, withConsent } from '../access/consent-context.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { callerGroup, isOpenProject, keyIdOf, openProject, refusal } from '../access/open-project.ts';
import { reserveMails } from '../billing/limits.ts';
import type { Data, DataChange } from '../contacts/data.ts';
import { readLimitedData, requireRoomForFields } from '../contacts/limits.ts';
import { translatingContactErrors } from '../contacts/violations.ts';
import { writeContacts } from '../contacts/write.ts';
import { senderDomain } from '../domains/name.ts';
import { isVerifiedSender, knownSender, rememberSender } from '../domains/verified-sender.ts';
import { chooseTopics, contextOf } from '../topics/choices.ts';
import { archivedTopic, findTopicNamed, requireKind } from '../topics/find.ts';
import { storeAttachments } from './attachments.ts';
import { isBodyStored, readTemplate, rememberBody, rememberedTemplate } from './known-content.ts';
import { insertUnpublishedResults } from './publish-results.ts';
import {
  type Address,
  contentOf,
  type MailContent,
  NO_LIMITS,
  type SendInput,
  type SendLimits,
} from './send-content.ts';

export type { Address, SendInput } from './send-content.ts';

export interface Accepted {
  /** `skipped` is why a recipient may not get the email. */
  emails: { contact: { id: string; email: string }; email: string; skipped?: string }[];
  timestamp: Date;
}

type Mail = Address & { id: string };

type ParsedInput = SendInput & { change: DataChange; limits: Limits };

interface AcceptedRow {
  emailId: string;
  contactId: string;
  createdAt: Date;
  sendersVersion: string;
  skipped: string | null;
}

/** One request as the statement takes it: the shared content, and a mail per recipient. */
interface SendRequest {
  content: Omit<EmailContent, 'n'> & Record<string, unknown>;
  mails: (Record<string, unknown> & { id: string })[];
}

// Writes nothing at all for an unverified domain, for custom fields beyond the limit or for an outdated template. The
// domain is checked against the cached version of the project's domains, and against the table if that is missing or
// outdated. Takes JSON parameters because concurrent requests of a project share one statement.
const insertMails = statement<AcceptedRow>(
  'send',
  `with content as materialized (
     select content.*, project.senders_version from ${openProject('$5')} as project,
       json_to_recordset($3::json) as content (${emailContentColumns}, domain text, verified_at_version uuid,
         template_id uuid, template_version integer, topic_id uuid, needs_subscription boolean, fields jsonb, field_count integer, max_fields integer)
     where (content.verified_at_version = project.senders_version or (
       select d.status = 'VERIFIED' from domains d where d.domain = content.domain and d.project_id = $1))
       and (content.template_version is null or content.template_version = (
         select t.version from templates t where t.id = content.template_id and t.project_id = $1))
       and ${fieldsFit({
         projectId: '$1',
         keys: 'jsonb_array_elements_text(content.fields)',
         count: 'content.field_count',
         max: 'content.max_fields',
       })}
   ),
   recipient as materialized (
     select r.*, content.template_id, content.topic_id, content.needs_subscription,
       ${isSuppressed('$1', 'r.email')} as suppressed
     from json_to_recordset($4::json) as r (content integer, id uuid, email text,
       name text, contact_id uuid, subscribed boolean, patch jsonb, deletes jsonb, defaults jsonb, event_id uuid,
       event_data jsonb)
     join content on content.n = r.content
     order by r.email collate "C", r.id
   ),
   mail as materialized (
     select r.content, r.id, contact.id as contact_id, r.email, r.name, r.template_id, r.topic_id, r.needs_subscription,
       case reason when 'suppressed' then 'FAILED' else case when reason is null then 'PENDING' else 'SKIPPED' end end as status,
       reason
     from recipient r, write_contact($1, r.email, r.contact_id, r.subscribed, false, r.patch, r.deletes, r.defaults,
       r.event_id, coalesce(r.event_data, '{}')) as contact,
       lateral (select case when r.topic_id is null and r.needs_subscription is null
         then case when r.suppressed then 'suppressed' end
         else recipient_refusal($1, contact.id, r.needs_subscription, r.suppressed, r.topic_id) end as reason) refusal
   ),
   ${insertEmailsSql('$1', 'template_id, topic_id, needs_subscription, status, reason')},
   result as (${insertUnpublishedResults("accepted where status = 'FAILED'")})
   select id as email_id, contact_id, created_at, (select senders_version from content limit 1) as senders_version,
     case when status = 'SKIPPED' then reason end as skipped
   from accepted`,
);

async function writeRequests(db: Db, project: ProjectAccess, requests: SendRequest[]): Promise<AcceptedRow[][]> {
  const contents = requests.map(({ content }, n) => ({ ...content, n }));
  const mails = requests.flatMap((request, n) => request.mails.map((mail) => ({ ...mail, content: n })));
  faultPoint('accept-before');
  const rows = await insertMails(db, [
    project.projectId,
    project.keyGeneration,
    JSON.stringify(contents),
    JSON.stringify(mails),
    keyIdOf(project),
  ]);
  faultPoint('accept-after');
  const byId = new Map(rows.map((row) => [row.emailId, row]));
  return requests.map((request) => request.mails.flatMap(({ id }) => byId.get(id) ?? []));
}

const writeCoalesced = coalesceWrites(writeRequests, {
  key: callerGroup,
  maxItems: 25,
  width: 2,
});

/** Retries because a domain may become verified between a refusal and the query for its reason. */
const ATTEMPTS = 3;

/** Larger bodies gain nothing from sharing a statement. */
const SMALL_BODY = 64 * 1024;

/** Writes contacts and ledger rows in one statement. A due ledger row is itself the order to send. */
export async function sendEmails(
  db: Db,
  project: ProjectAccess,
  input: SendInput,
  limits: SendLimits = NO_LIMITS,
): Promise<Accepted> {
  const mails = input.to.map((recipient) => ({ ...recipient, id: newId() }));
  for (const { id } of mails) linkToRow(id);
  return confirmed(
    db,
    () => acceptMails(db, project, input, limits, mails),
    () => findAccepted(db, project, mails),
  );
}

async function acceptMails(
  db: Db,
  project: ProjectAccess,
  input: SendInput,
  limits: SendLimits,
  mails: Mail[],
): Promise<Accepted> {
  const { template: templateId, attachments } = input;
  const request: ParsedInput = { ...input, change: readLimitedData(input.data, limits.limits), limits: limits.limits };
  const needsTransaction = attachments?.length || project.countsOnAccept || input.topics !== undefined;
  if (templateId && !needsTransaction && !input.topic) {
    const content = rememberedContent(db, project, input, limits);
    const accepted = content && (await acceptOnce(db, project, request, content, mails));
    if (accepted) return accepted;
  }
  const template = templateId ? await readTemplate(db, project.projectId, templateId) : undefined;
  const content = contentOf(input, template, limits);
  if (input.topic) content.topicId = await topicNamed(db, project.projectId, input.topic, content.type);
  else if (template?.topicRequired && content.topicId === null && content.type !== 'TRANSACTIONAL')
    throw badRequest(`The project requires a topic for ${content.type} templates.`, { suggestion: 'Send `topic`.' });
  // Most mail needs one statement, which concurrent requests share.
  if (content.type === 'TRANSACTIONAL' && !needsTransaction) return acceptContent(db, project, request, content, mails);
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      // First, because the email is asked for the state that they lead to.
      if (input.topics) await chooseForRecipients(trx, project, input);
      if (attachments?.length) content.attachmentSet = await storeAttachments(trx, attachments);
      if (project.countsOnAccept) await reserveMails(trx, project.projectId, input.to.length);
      const accepted = await acceptContent(trx, project, request, content, mails);
      if (content.type !== 'TRANSACTIONAL' && content.topicId === null)
        await refuseUnsubscribed(trx, accepted, content.type);
      return accepted;
    }),
  );
}

/** Returns undefined where the template is to be read: it is not remembered, or would be refused as it was. */
function rememberedContent(db: Db, { projectId }: ProjectAccess, input: SendInput, limits: SendLimits) {
  const template = input.template ? rememberedTemplate(db, projectId, input.template) : undefined;
  if (template?.type !== 'TRANSACTIONAL') return undefined;
  try {
    return { ...contentOf(input, template, limits), templateVersion: template.version };
  } catch {
    return undefined;
  }
}

const findMails = statement<Omit<AcceptedRow, 'sendersVersion'>>(
  'send-find',
  `select id as email_id, contact_id, created_at, case when status = 'SKIPPED' then reason end as skipped from emails where project_id = $1 and id = any ($2::uuid[])`,
);

async function findAccepted(db: Db, { projectId }: ProjectAccess, mails: Mail[]): Promise<Accepted | undefined> {
  const rows = await findMails(db, [projectId, mails.map(({ id }) => id)]);
  return rows.length === mails.length ? toAccepted(mails, rows) : undefined;
}

async function acceptContent(
  db: Db,
  project: ProjectAccess,
  input: ParsedInput,
  content: MailContent,
  mails: Mail[],
): Promise<Accepted> {
  const domain = senderDomain(content.from.email);
  for (let attempt = 1; ; attempt++) {
    const accepted = await acceptOnce(db, project, input, content, mails);
    if (accepted) return accepted;
    const reason = await refusalReason(db, project, domain);
    if (!reason) await requireRoomForFields(db, project.projectId, input.change.patch, input.limits);
    if (reason || attempt === ATTEMPTS) throw reason ?? unverifiedSender(domain);
  }
}

/** Returns undefined if the statement refused the mails. */
async function acceptOnce(
  db: Db,
  project: ProjectAccess,
  input: ParsedInput,
  content: MailContent,
  mails: Mail[],
): Promise<Accepted | undefined> {
  const domain = senderDomain(content.from.email);
  const body = bodyColumns(db, project.projectId, content, mails);
  const rows = await translatingContactErrors(() =>
    retryDeadlocks(db, () =>
      writeMails(db, project, domain, input, { ...contentColumns(content, input.change.seen), ...body }, mails),
    ),
  );
  const [first] = rows;
  if (!first) return undefined;
  rememberSender(db, project.projectId, domain, first.sendersVersion);
  if (body.shared && !db.isTransaction) rememberBody(db, body.body_id);
  wake(db, 'mail');
  return toAccepted(mails, rows);
}

async function writeMails(
  db: Db,
  project: ProjectAccess,
  domain: string,
  { change: { patch, deletes }, subscribed, limits }: ParsedInput,
  content: ContentColumns,
  mails: Mail[],
): Promise<AcceptedRow[]> {
  const fields = Object.keys(patch);
  const request = {
    content: {
      domain,
      ...(fields.length > 0 && { fields }),
      field_count: fields.length,
      max_fields: limits.customFields,
      verified_at_version: knownSender(db, project.projectId, domain),
      ...content,
    },
    // Repeated addresses of a request are one contact, with the first name given.
    mails: mails.map(({ id, email, name }) => {
      const contact = {
        contact_id: newId(),
        subscribed,
        patch,
        deletes,
        defaults: name ? { name } : {},
        event_id: newId(),
        ...(subscribed !== undefined && { event_data: { consent: consentContextOf(project) } }),
      };
      return { id, email, name, ...contact };
    }),
  };
  if (mails.length === 1 && (content.html?.length ?? 0) < SMALL_BODY) return writeCoalesced(db, project, request);
  const [rows = []] = await writeRequests(db, project, [request]);
  return rows;
}

const contentColumns = (content: MailContent, seen: Data) => ({
  from_email: content.from.email,
  from_name: content.from.name,
  reply_to: content.reply,
  subject: content.subject,
  type: content.type,
  variables: undefinedIfEmpty(seen),
  attachment_set: content.attachmentSet,
  template_id: content.templateId,
  template_version: content.templateVersion,
  topic_id: content.topicId ?? undefined,
  needs_subscription: content.type === 'TRANSACTIONAL' ? undefined : true,
});

/** The text of a template is stored once a month; headers of the request may name a person. */
function bodyColumns(db: Db, projectId: string, content: MailContent, [first]: Mail[]) {
  const html = content.body;
  const headers = undefinedIfEmpty(content.headers);
  const shared = content.bodyIsTemplates && headers === undefined;
  const mailId = first?.id ?? newId();
  const bodyId = shared ? sharedBodyId(mailId, projectId, { html }) : mailId;
  return { body_id: bodyId, html: shared && isBodyStored(db, bodyId) ? undefined : html, headers, shared };
}

type ContentColumns = ReturnType<typeof contentColumns> & ReturnType<typeof bodyColumns>;

function undefinedIfEmpty<T extends object>(object: T): T | undefined {
  for (const _ in object) return object;
  return undefined;
}

function toAccepted(mails: Mail[], rows: Omit<AcceptedRow, 'sendersVersion'>[]): Accepted {
  const byId = new Map(rows.map((row) => [row.emailId, row]));
  return {
    emails: mails.map(({ id, email }) => {
      const { contactId = '', skipped } = byId.get(id) ?? {};
      return { contact: { id: contactId, email }, email: id, ...(skipped && { skipped }) };
    }),
    timestamp: rows[0]?.createdAt ?? new Date(),
  };
}

/** Returns the reason of a refusal, or undefined if it no longer applies. */
async function refusalReason(db: Db, project: ProjectAccess, domain: string): Promise<ApiError | undefined> {
  if (!(await isOpenProject(db, project))) return refusal(db, project);
  return (await isVerifiedSender(db, project.projectId, domain)) ? undefined : unverifiedSender(domain);
}

/** Returns the id of a topic that goes with email of this type. */
async function topicNamed(db: Db, projectId: string, name: string, type: TemplateType): Promise<string> {
  const topic = await findTopicNamed(db, projectId, name);
  requireKind(topic, type, 'topic');
  if (topic.archived) throw archivedTopic(topic, 'topic');
  return topic.id;
}

/** Writes the choices of the recipients, who become contacts. */
async function chooseForRecipients(trx: Db, project: ProjectAccess, input: SendInput): Promise<void> {
  const { to, subscribed } = input;
  const eventData = withConsent(contextOf(project, input, false));
  const contact = { subscribed, subscribedWhenNew: false, patch: {}, deletes: [], eventData };
  const addresses = [...new Set(to.map(({ email }) => email))];
  const { written } = await writeContacts(
    trx,
    project.projectId,
    addresses.map((email) => ({ email, ...contact })),
  );
  for (const { id, isNew } of written) await chooseTopics(trx, project, id, input, { isNew });
}

const MAX_LISTED = 5;

/**
 * Refuses MARKETING and HEADLESS mail to unsubscribed contacts. Runs after the contacts are written and in the same
 * transaction, so that no contact can unsubscribe in between and a refusal rolls everything back.
 */
async function refuseUnsubscribed(trx: Db, { emails }: Accepted, type: TemplateType): Promise<void> {
  const ids = [...new Set(emails.map(({ contact }) => contact.id))];
  const unsubscribed = await Contact.query(trx)
    .select('email')
    .whereIn('id', ids)
    .where({ subscribed: false })
    .orderBy('email')
    .limit(MAX_LISTED);
  if (unsubscribed.length === 0) return;
  const addresses = unsubscribed.map(({ email }) => email).join(', ');
  throw badRequest(`${type} templates are sent to subscribed contacts only. Not subscribed: ${addresses}.`, {
    suggestion: 'Send `subscribed: true` if they have consented, leave them out, or use a TRANSACTIONAL template.',
  });
}
