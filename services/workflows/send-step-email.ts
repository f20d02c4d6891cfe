import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import { Domain } from '../../db/models/domain.ts';
import { sharedBodyId } from '../../db/models/email-body.ts';
import type { Template } from '../../db/models/template.ts';
import type { TopicState } from '../../db/models/topic.ts';
import { statement } from '../../db/statement.ts';
import { unverifiedSender } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { senderDomain } from '../domains/name.ts';
import type { ExecutionState } from './execution-state.ts';
import type { StepMailRow } from './records.ts';
import type { MailResult, StepMail } from './steps/step-type.ts';

type MailTemplate = Pick<
  Template,
  'id' | 'subject' | 'body' | 'fromEmail' | 'fromName' | 'replyTo' | 'type' | 'topicId'
>;

// `known` compares the sender's domain as written; `planStepEmail` normalizes it if that finds nothing.
// Asks the contact with the recipient's address only where the rule needs it; an address that is no contact cannot have
// unsubscribed.
const find = statement<MailTemplate & { known: boolean; refusal: string | null }>(
  'workflow-mail-template',
  `select t.id, t.subject, t.body, t.from_email, t.from_name, t.reply_to, t.type, asked.topic_id,
     exists (select 1 from domains d where d.project_id = t.project_id
       and d.domain = substring(coalesce($3, t.from_email) from '[^@]*$')) as known,
     email_refusal(asked.needs_subscription, false, coalesce($6::boolean, c.subscribed, true), c.snoozed_until,
       asked.topic_id, topic.archived,
       case when asked.topic_id is not null then coalesce($7::jsonb ->> asked.topic_id::text,
         topic_state($1, asked.topic_id, c.id, c.created_at)) end) as refusal
   from templates t
   cross join lateral (select t.type <> 'TRANSACTIONAL' as needs_subscription, coalesce($5::uuid, t.topic_id) as topic_id) asked
   left join topics topic on topic.id = asked.topic_id and topic.project_id = $1
   left join lateral (select * from contacts where contacts.project_id = $1 and contacts.email = $4
     and (asked.needs_subscription or asked.topic_id is not null) limit 1) c on true
   where t.project_id = $1 and t.id = $2`,
);

/** The mail of a step, or why there is none. */
export type MailPlan = { template: MailTemplate; from: string } | Exclude<MailResult, { emailId: string }>;

type Sender = Pick<ExecutionState, 'projectId' | 'contact'> & {
  /** Of a simulation, by key and by id. */
  topics?: ReadonlyMap<string, { id: string; state: TopicState }>;
};

export async function planStepEmail(db: Db, execution: Sender, mail: StepMail): Promise<MailPlan> {
  const { projectId, contact, topics } = execution;
  const to = mail.to ?? contact?.email ?? null;
  // In a simulation the contact may be another than the stored one.
  const isToContact = to === contact?.email || mail.to === undefined;
  const subscribed = isToContact ? (contact?.subscribed ?? false) : null;
  const states = isToContact && topics ? JSON.stringify(statesOf(topics)) : null;
  const values = [projectId, mail.templateId, mail.from ?? null, to, mail.topicId ?? null, subscribed, states];
  const [template] = await find(db, values);
  if (!template) return { failed: 'the template of the step no longer exists' };
  const from = mail.from ?? template.fromEmail;
  if (!from) return { failed: 'neither the step nor its template has a sender' };
  const domain = senderDomain(from);
  // Mail of an unverified domain is blocked until it is verified; a domain of another project fails the step.
  if (!template.known && !(await Domain.query(db).findOne({ projectId, domain })))
    return { failed: unverifiedSender(domain).message };
  if (template.refusal === 'unsubscribed')
    return { skipped: `the contact is not subscribed, and the template is ${template.type}` };
  if (template.refusal !== null) return { skipped: template.refusal };
  return { template, from };
}

const statesOf = (topics: NonNullable<Sender['topics']>) =>
  Object.fromEntries([...topics.values()].map(({ id, state }) => [id, state]));

/** Returns the row for the ledger, with its content. event.* is the context of the execution. */
export function mailRowOf(
  { template, from }: Extract<MailPlan, { template: unknown }>,
  { fromName, replyTo, to }: StepMail,
  { projectId, context }: Pick<ExecutionState, 'projectId' | 'context'>,
  contact: ContactRecord,
): StepMailRow {
  const id = newId();
  return {
    id,
    to: to ?? contact.email,
    templateId: template.id,
    topicId: template.topicId,
    needsSubscription: template.type !== 'TRANSACTIONAL',
    content: {
      n: 1,
      body_id: sharedBodyId(id, projectId, { html: template.body }),
      html: template.body,
      shared: true,
      from_email: from,
      from_name: fromName ?? template.fromName,
      reply_to: replyTo ?? template.replyTo,
      subject: template.subject,
      type: template.type,
      variables: { event: context },
    },
  };
}
