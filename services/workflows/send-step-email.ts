import { type Db, wake } from '../../db/connect.ts';
import { Contact } from '../../db/models/contact.ts';
import { Domain } from '../../db/models/domain.ts';
import { Template } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { unverifiedSender } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { senderDomain } from '../domains/name.ts';
import type { HeldExecution } from './held-execution.ts';
import type { MailResult, StepMail } from './steps/step-type.ts';

/** Of mail that workflows send: behind transactional mail, before campaigns. */
const PRIORITY = 1;

// One mail from a visit, however often it is made. `event.*` is the context of the execution.
const accept = statement<{ email_id: string }>(
  'workflow-mail',
  `with mail as (
     insert into emails (id, project_id, contact_id, source_type, priority, template_id, workflow_id, execution_id,
       step_visit)
     values ($1, $2, $3, 'WORKFLOW', $4, $5, $6, $7, $8)
     on conflict (execution_id, step_visit) where execution_id is not null do nothing
     returning id
   )
   insert into email_contents (email_id, project_id, to_email, from_email, from_name, reply_to, subject, html, type,
     variables)
   select mail.id, $2, $9, $10, $11, $12, $13, $14, $15, jsonb_build_object('event', $16::jsonb) from mail
   returning email_id`,
);

const find = statement<{ id: string }>(
  'workflow-mail-find',
  'select id from emails where execution_id = $1 and step_visit = $2',
);

/** Writes a mail into the ledger: from then on it is on its way. */
export async function sendStepEmail(trx: Db, execution: HeldExecution, mail: StepMail): Promise<MailResult> {
  const plan = await planStepEmail(trx, execution, mail);
  if (!('template' in plan)) return plan;
  return { emailId: await write(trx, execution, { ...mail, from: plan.from }, plan.template) };
}

/** What a step would send, or why it would not. */
export type MailPlan = { template: Template; from: string } | Exclude<MailResult, { emailId: string }>;

type Sender = Pick<HeldExecution, 'projectId' | 'contact'>;

export async function planStepEmail(db: Db, execution: Sender, mail: StepMail): Promise<MailPlan> {
  const { projectId } = execution;
  const template = await Template.query(db).findOne({ projectId, id: mail.templateId });
  if (!template) return { failed: 'the template of the step is gone' };
  const from = mail.from ?? template.fromEmail;
  if (!from) return { failed: 'neither the step nor its template says who sends the mail' };
  const domain = senderDomain(from);
  // One that is only unverified at the moment holds its mail; this is for one that is none of the project's.
  if (!(await Domain.query(db).findOne({ projectId, domain }))) return { failed: unverifiedSender(domain).message };
  if (template.type !== 'TRANSACTIONAL' && !(await isSubscribed(db, execution, mail.to)))
    return { skipped: `the contact is not subscribed, and the template is ${template.type}` };
  return { template, from };
}

/** Somebody who is no contact cannot have unsubscribed. */
async function isSubscribed(db: Db, { projectId, contact }: Sender, to: string | undefined): Promise<boolean> {
  if (to === undefined || to === contact?.email) return contact?.subscribed ?? false;
  const other = await Contact.query(db).findOne({ projectId, email: to });
  return other?.subscribed ?? true;
}

async function write(
  trx: Db,
  { id, projectId, contactId, contact, workflowId, visit, context }: HeldExecution,
  { from, fromName, replyTo, to }: StepMail & { from: string },
  template: Template,
): Promise<string> {
  const [row] = await accept(trx, [
    newId(),
    projectId,
    contactId,
    PRIORITY,
    template.id,
    workflowId,
    id,
    visit,
    to ?? contact?.email ?? '',
    from,
    fromName ?? template.fromName,
    replyTo ?? template.replyTo,
    template.subject,
    template.body,
    template.type,
    JSON.stringify(context),
  ]);
  wake(trx, 'mail');
  if (row) return row.email_id;
  const [first] = await find(trx, [id, visit]);
  return first?.id ?? '';
}
