import type { Db } from '../../db/connect.ts';
import { Contact, type ContactRecord } from '../../db/models/contact.ts';
import { Domain } from '../../db/models/domain.ts';
import { sharedBodyId } from '../../db/models/email-body.ts';
import type { Template } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { unverifiedSender } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { senderDomain } from '../domains/name.ts';
import type { ExecutionState } from './execution-state.ts';
import type { StepMailRow } from './records.ts';
import type { MailResult, StepMail } from './steps/step-type.ts';

/** After transactional mail, before campaigns. */
const PRIORITY = 1;

type MailTemplate = Pick<Template, 'id' | 'subject' | 'body' | 'fromEmail' | 'fromName' | 'replyTo' | 'type'>;

// `known` compares the sender's domain as written; `planStepEmail` normalizes it if that finds nothing.
const find = statement<MailTemplate & { known: boolean }>(
  'workflow-mail-template',
  `select t.id, t.subject, t.body, t.from_email as "fromEmail", t.from_name as "fromName", t.reply_to as "replyTo", t.type,
     exists (select 1 from domains d where d.project_id = t.project_id
       and d.domain = substring(coalesce($3, t.from_email) from '[^@]*$')) as known
   from templates t where t.project_id = $1 and t.id = $2`,
);

/** The mail of a step, or why there is none. */
export type MailPlan = { template: MailTemplate; from: string } | Exclude<MailResult, { emailId: string }>;

type Sender = Pick<ExecutionState, 'projectId' | 'contact'>;

export async function planStepEmail(db: Db, execution: Sender, mail: StepMail): Promise<MailPlan> {
  const { projectId } = execution;
  const [template] = await find(db, [projectId, mail.templateId, mail.from ?? null]);
  if (!template) return { failed: 'the template of the step no longer exists' };
  const from = mail.from ?? template.fromEmail;
  if (!from) return { failed: 'neither the step nor its template has a sender' };
  const domain = senderDomain(from);
  // Mail of an unverified domain is blocked until it is verified; a domain of another project fails the step.
  if (!template.known && !(await Domain.query(db).findOne({ projectId, domain })))
    return { failed: unverifiedSender(domain).message };
  if (template.type !== 'TRANSACTIONAL' && !(await isSubscribed(db, execution, mail.to)))
    return { skipped: `the contact is not subscribed, and the template is ${template.type}` };
  return { template, from };
}

/** An address that is no contact counts as subscribed: it cannot have unsubscribed. */
async function isSubscribed(db: Db, { projectId, contact }: Sender, to: string | undefined): Promise<boolean> {
  if (to === undefined || to === contact?.email) return contact?.subscribed ?? false;
  const other = await Contact.query(db).findOne({ projectId, email: to });
  return other?.subscribed ?? true;
}

/** Returns the row for the ledger. */
export function mailRowOf(
  { template, from }: Extract<MailPlan, { template: unknown }>,
  { fromName, replyTo, to }: StepMail,
  projectId: string,
  contact: ContactRecord,
): StepMailRow {
  const id = newId();
  return {
    id,
    priority: PRIORITY,
    templateId: template.id,
    to: to ?? contact.email,
    from,
    fromName: fromName ?? template.fromName,
    replyTo: replyTo ?? template.replyTo,
    subject: template.subject,
    bodyId: sharedBodyId(id, projectId, { html: template.body }),
    html: template.body,
    type: template.type,
  };
}
