import { type Db, inTransaction, wake } from '../../db/connect.ts';
import {
  type ContactWrite,
  contactArrays,
  contactValues,
  writeContact,
  writeContacts,
} from '../../db/models/contact-writing.ts';
import { Domain } from '../../db/models/domain.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { type ApiError, unverifiedSender } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { MailAttachment } from '../../platform/mailer.ts';
import { type Data, type DataChange, readData } from '../contacts/data.ts';
import { tellingFaults } from '../contacts/faults.ts';
import type { ProjectAccess } from '../projects/keys.ts';
import { openProject, refusal } from '../projects/refusal.ts';
import { findTemplate } from '../templates/find.ts';
import { storeAttachments } from './attachments.ts';
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

interface AcceptedRow {
  email_id: string;
  contact_id: string;
  created_at: Date;
}

const VERIFIED = "exists (select 1 from domains where project_id = $1 and domain = $3 and status = 'VERIFIED')";

/** From an unverified domain nothing is written at all: the check is a condition of everything else. */
const acceptance = (name: string, mail: string, contact: string) =>
  statement<AcceptedRow>(
    name,
    `with project as materialized ${openProject(VERIFIED)},
     ${mail},
     ${contact},
     content as (
       insert into email_contents
         (email_id, project_id, to_email, to_name, from_email, from_name, reply_to, subject, html, type, variables,
          headers, attachment_set)
       select mail.id, project.id, mail.email, mail.name, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text,
         $10::jsonb, $11::jsonb, $12::uuid
       from project, mail
     )
     insert into emails (id, project_id, contact_id, template_id)
     select mail.id, project.id, contact.id, $13::uuid from project, mail join contact using (email)
     returning id as email_id, contact_id, created_at`,
  );

// Nearly all mail has one recipient, and unfolding arrays costs a fifth of the whole statement.
const acceptOne = acceptance(
  'send',
  'mail as (select $14::uuid as id, $15::text as email, $16::text as name)',
  `contact as materialized (select $17 as email, written.* from project, ${writeContact('project.id', 17)} as written)`,
);
const acceptMany = acceptance(
  'send-many',
  'mail as (select * from unnest($14::uuid[], $15::text[], $16::text[]) as mail (id, email, name))',
  writeContacts(17),
);

/** Contacts and ledger rows in one statement; a ledger row that is due is itself the intent to send. */
export async function sendEmails(
  db: Db,
  project: ProjectAccess,
  input: SendInput,
  limits: SendLimits = NO_LIMITS,
): Promise<Accepted> {
  const { template, attachments } = input;
  if (!template && !attachments?.length) return accept(db, project, input, contentOf(input, undefined, limits));
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const content = contentOf(input, template ? await findTemplate(trx, project.projectId, template) : null, limits);
      if (attachments?.length) content.attachmentSet = await storeAttachments(trx, attachments);
      const accepted = await accept(trx, project, input, content);
      if (content.type !== 'TRANSACTIONAL') await refuseUnsubscribed(trx, accepted, content.type);
      return accepted;
    }),
  );
}

async function accept(db: Db, project: ProjectAccess, input: SendInput, content: MailContent): Promise<Accepted> {
  const { email } = content.from;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const mails = input.to.map((recipient) => ({ ...recipient, id: newId() }));
  const rows = await tellingFaults(() => retryDeadlocks(db, () => write(db, project, domain, input, content, mails)));
  if (rows.length === 0) throw await refusalOf(db, project, domain);
  wake(db, 'mail');
  return present(mails, rows);
}

function write(
  db: Db,
  project: ProjectAccess,
  domain: string,
  input: SendInput,
  { from, reply, subject, body, type, headers, attachmentSet, templateId }: MailContent,
  mails: Mail[],
): Promise<AcceptedRow[]> {
  const change = readData(input.data);
  const contacts = contactsOf(input, change);
  const shared = [project.projectId, project.keyGeneration, domain, from.email, from.name, reply, subject, body];
  shared.push(type, jsonOf(change.seen), jsonOf(headers), attachmentSet, templateId);
  const [mail, ...others] = mails;
  const [contact] = contacts;
  if (mail && contact && others.length === 0)
    return acceptOne(db, [...shared, mail.id, mail.email, mail.name, ...contactValues(contact)]);
  const columns = [mails.map(({ id }) => id), mails.map(({ email }) => email), mails.map(({ name }) => name)];
  return acceptMany(db, [...shared, ...columns, ...contactArrays(contacts)]);
}

const jsonOf = (object: object): string | undefined => {
  const text = JSON.stringify(object);
  return text === '{}' ? undefined : text;
};

function contactsOf({ to, subscribed }: SendInput, { patch, deletes }: DataChange): ContactWrite[] {
  // One contact per address, however often it is among the recipients; the first name given for it counts.
  const names = new Map<string, string | undefined>();
  for (const { email, name } of to) names.set(email, names.get(email) ?? name);
  return [...names].map(([email, name]) => ({
    email,
    subscribed,
    subscribedWhenNew: false,
    patch,
    deletes,
    defaults: name ? { name } : {},
  }));
}

function present(mails: Mail[], rows: AcceptedRow[]): Accepted {
  const contacts = new Map(rows.map((row) => [row.email_id, row.contact_id]));
  return {
    emails: mails.map(({ id, email }) => ({ contact: { id: contacts.get(id) ?? '', email }, email: id })),
    timestamp: rows[0]?.created_at ?? new Date(),
  };
}

async function refusalOf(db: Db, project: ProjectAccess, domain: string): Promise<ApiError> {
  const verified = await Domain.query(db).findOne({ projectId: project.projectId, domain, status: 'VERIFIED' });
  return verified ? refusal(db, project) : unverifiedSender(domain);
}
