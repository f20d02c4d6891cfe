import { confirmed } from '../../db/confirm.ts';
import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { fieldsFit } from '../../db/models/name-limits.ts';
import { isSuppressed } from '../../db/models/suppression.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { together } from '../../db/together.ts';
import { type ApiError, unverifiedSender } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { Limits } from '../../platform/limits.ts';
import type { MailAttachment } from '../../platform/mailer.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { isOpenProject, openProject, refusal } from '../access/open-project.ts';
import { reserveMails } from '../billing/caps.ts';
import type { Data, DataChange } from '../contacts/data.ts';
import { readLimitedData, requireRoomForFields } from '../contacts/limits.ts';
import { translatingContactErrors } from '../contacts/violations.ts';
import { knownSender, rememberSender } from '../domains/known-senders.ts';
import { senderDomain } from '../domains/name.ts';
import { isVerifiedSender } from '../domains/verified-sender.ts';
import { findTemplate } from '../templates/find.ts';
import { storeAttachments } from './attachments.ts';
import { queueingResults } from './publish-results.ts';
import { contentOf, type MailContent, NO_LIMITS, type SendLimits } from './send-content.ts';
import { refuseUnsubscribed } from './subscribed.ts';

export interface Address {
  email: string;
  name?: string | undefined;
}

export interface SendInput {
  /** At least one; each gets a mail of its own. */
  to: Address[];
  /** Of an own, or else the template's; what neither has is missing. */
  from?: Address | undefined;
  subject?: string | undefined;
  body?: string | undefined;
  template?: string | null | undefined;
  reply?: string | undefined;
  subscribed?: boolean | undefined;
  data?: Data | null | undefined;
  headers?: Record<string, string> | null | undefined;
  attachments?: MailAttachment[] | null | undefined;
}

export interface Accepted {
  emails: { contact: { id: string; email: string }; email: string }[];
  timestamp: Date;
}

type Mail = Address & { id: string };

type Given = SendInput & { change: DataChange; limits: Limits };

interface AcceptedRow {
  email_id: string;
  contact_id: string;
  created_at: Date;
  senders_version: string;
}

/** What is the same for all recipients of a request, and the mails to them. */
interface Ask {
  content: Record<string, unknown>;
  mails: (Record<string, unknown> & { id: string })[];
}

// From an unverified domain, or with new custom fields that do not fit, nothing is written at all: the checks are
// conditions of everything else. That of the domain is made from
// memory; the table is asked where there is none, or where the project's domains have changed since. As JSON, and not as
// arrays or single parameters, because the requests of a project are accepted together when they come together.
const acceptAll = statement<AcceptedRow>(
  'send',
  `with content as materialized (
     select content.*, project.senders_version from ${openProject()} as project,
       json_to_recordset($3::json) as content (n integer, domain text, verified_at_version uuid, from_email text,
         from_name text, reply_to text, subject text, html text, type text, variables jsonb, headers jsonb,
         attachment_set uuid, template_id uuid, fields jsonb, field_count integer, max_fields integer)
     where (content.verified_at_version = project.senders_version or (
       select d.status = 'VERIFIED' from domains d where d.domain = content.domain and d.project_id = $1))
       and ${fieldsFit({
         projectId: '$1',
         keys: 'jsonb_array_elements_text(content.fields)',
         count: 'content.field_count',
         max: 'content.max_fields',
       })}
   ),
   mail as materialized (
     select mail.* from json_to_recordset($4::json) as mail (content integer, id uuid, email text, name text,
       contact_id uuid, subscribed boolean, patch jsonb, deletes jsonb, defaults jsonb, event_id uuid)
     where content in (select n from content)
     order by email collate "C", id
   ),
   contact as materialized (
     select mail.id as email_id, written.id from mail, write_contact($1, mail.email, mail.contact_id, mail.subscribed,
       false, mail.patch, mail.deletes, mail.defaults, mail.event_id) as written
   ),
   contents as (
     insert into email_contents
       (email_id, project_id, to_email, to_name, from_email, from_name, reply_to, subject, html, type, variables,
        headers, attachment_set)
     select mail.id, $1, mail.email, mail.name, c.from_email, c.from_name, c.reply_to, c.subject, c.html, c.type,
       c.variables, c.headers, c.attachment_set
     from mail join content c on c.n = mail.content
   ),
   accepted as (
     insert into emails (id, project_id, contact_id, template_id, status, reason)
     select mail.id, $1, contact.id, c.template_id,
       case when s.suppressed then 'FAILED' else 'PENDING' end, case when s.suppressed then 'suppressed' end
     from mail join content c on c.n = mail.content join contact on contact.email_id = mail.id
     cross join lateral (select ${isSuppressed('$1', 'mail.email')} as suppressed) s
     returning id, contact_id, without_events, status, created_at
   ),
   result as (${queueingResults("accepted where status = 'FAILED'")})
   select id as email_id, contact_id, created_at, (select senders_version from content limit 1) as senders_version
   from accepted`,
);

async function writeAll(db: Db, { projectId, keyGeneration }: ProjectAccess, asks: Ask[]): Promise<AcceptedRow[][]> {
  const contents = asks.map(({ content }, n) => ({ ...content, n }));
  const mails = asks.flatMap((ask, n) => ask.mails.map((mail) => ({ ...mail, content: n })));
  const rows = await acceptAll(db, [projectId, keyGeneration, JSON.stringify(contents), JSON.stringify(mails)]);
  const byId = new Map(rows.map((row) => [row.email_id, row]));
  return asks.map((ask) => ask.mails.flatMap(({ id }) => byId.get(id) ?? []));
}

const writeTogether = together(writeAll, {
  key: ({ projectId, keyGeneration }) => `${projectId}/${keyGeneration}`,
  maxItems: 25,
  width: 2,
});

/** A domain may be verified between a refusal and the question why. */
const ATTEMPTS = 3;

/** What is larger gains nothing from company. */
const SMALL = 64 * 1024;

/** Contacts and ledger rows in one statement; a ledger row that is due is itself the intent to send. */
export async function sendEmails(
  db: Db,
  project: ProjectAccess,
  input: SendInput,
  limits: SendLimits = NO_LIMITS,
): Promise<Accepted> {
  const mails = input.to.map((recipient) => ({ ...recipient, id: newId() }));
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
  const { template, attachments } = input;
  const ask: Given = { ...input, change: readLimitedData(input.data, limits.limits), limits: limits.limits };
  if (!template && !attachments?.length && !project.capped)
    return accept(db, project, ask, contentOf(input, undefined, limits), mails);
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const content = contentOf(input, template ? await findTemplate(trx, project.projectId, template) : null, limits);
      if (attachments?.length) content.attachmentSet = await storeAttachments(trx, attachments);
      if (project.capped) await reserveMails(trx, project.projectId, input.to.length);
      const accepted = await accept(trx, project, ask, content, mails);
      if (content.type !== 'TRANSACTIONAL') await refuseUnsubscribed(trx, accepted, content.type);
      return accepted;
    }),
  );
}

const findMails = statement<Pick<AcceptedRow, 'email_id' | 'contact_id' | 'created_at'>>(
  'send-find',
  `select id as email_id, contact_id, created_at from emails where project_id = $1 and id = any ($2::uuid[])`,
);

async function findAccepted(db: Db, { projectId }: ProjectAccess, mails: Mail[]): Promise<Accepted | undefined> {
  const rows = await findMails(db, [projectId, mails.map(({ id }) => id)]);
  return rows.length === mails.length ? present(mails, rows) : undefined;
}

async function accept(
  db: Db,
  project: ProjectAccess,
  input: Given,
  content: MailContent,
  mails: Mail[],
): Promise<Accepted> {
  const domain = senderDomain(content.from.email);
  for (let attempt = 1; ; attempt++) {
    const rows = await translatingContactErrors(() =>
      retryDeadlocks(db, () => write(db, project, domain, input, content, mails)),
    );
    const [first] = rows;
    if (first) {
      rememberSender(db, project.projectId, domain, first.senders_version);
      wake(db, 'mail');
      return present(mails, rows);
    }
    const refused = await refusalOf(db, project, domain);
    if (!refused) await requireRoomForFields(db, project.projectId, input.change.patch, input.limits);
    if (refused || attempt === ATTEMPTS) throw refused ?? unverifiedSender(domain);
  }
}

async function write(
  db: Db,
  project: ProjectAccess,
  domain: string,
  { change: { patch, deletes, seen }, subscribed, limits }: Given,
  content: MailContent,
  mails: Mail[],
): Promise<AcceptedRow[]> {
  const fields = Object.keys(patch);
  const ask = {
    content: {
      domain,
      ...(fields.length > 0 && { fields }),
      field_count: fields.length,
      max_fields: limits.customFields,
      verified_at_version: knownSender(db, project.projectId, domain),
      ...contentColumns(content, seen),
    },
    // Each address of a request is one contact, however often it is there; the first name given for it counts.
    mails: mails.map(({ id, email, name }) => {
      const contact = {
        contact_id: newId(),
        subscribed,
        patch,
        deletes,
        defaults: name ? { name } : {},
        event_id: newId(),
      };
      return { id, email, name, ...contact };
    }),
  };
  if (mails.length === 1 && content.body.length < SMALL) return writeTogether(db, project, ask);
  const [rows = []] = await writeAll(db, project, [ask]);
  return rows;
}

const contentColumns = (content: MailContent, seen: Data) => ({
  from_email: content.from.email,
  from_name: content.from.name,
  reply_to: content.reply,
  subject: content.subject,
  html: content.body,
  type: content.type,
  variables: filled(seen),
  headers: filled(content.headers),
  attachment_set: content.attachmentSet,
  template_id: content.templateId,
});

function filled<T extends object>(object: T): T | undefined {
  for (const _ in object) return object;
  return undefined;
}

function present(mails: Mail[], rows: Pick<AcceptedRow, 'email_id' | 'contact_id' | 'created_at'>[]): Accepted {
  const contacts = new Map(rows.map((row) => [row.email_id, row.contact_id]));
  return {
    emails: mails.map(({ id, email }) => ({ contact: { id: contacts.get(id) ?? '', email }, email: id })),
    timestamp: rows[0]?.created_at ?? new Date(),
  };
}

/** Undefined: nothing stands in its way any more. */
async function refusalOf(db: Db, project: ProjectAccess, domain: string): Promise<ApiError | undefined> {
  if (!(await isVerifiedSender(db, project.projectId, domain))) return unverifiedSender(domain);
  return (await isOpenProject(db, project)) ? undefined : refusal(db, project);
}
