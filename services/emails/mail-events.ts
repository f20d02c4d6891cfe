import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { messageId } from '../../platform/mime/compose.ts';
import { recordEvents } from '../events/record.ts';

/** What the events of a mail contain. */
export interface MailFacts {
  id: string;
  projectId: string;
  contactId: string;
  campaignId: string | null;
  workflowId: string | null;
  /** Null once erased. */
  fromEmail: string | null;
  /** The depth of workflows that caused the mail, because its events can start further workflows. */
  depth: number;
  /** The data of every event of the mail, without its Message-ID. */
  data: Record<string, unknown>;
}

// SQL expressions on a ledger row with the joins of `mailFactsJoins`.

export const mailSender = 'coalesce(content.from_email, campaign.from_email)';
export const mailDepth = 'coalesce(execution.depth + 1, 0)';

/** The event data of a ledger row; `more` are further keys and values. */
export const mailData = (mail: string, ...more: string[]): string => `jsonb_build_object(
  'emailId', ${mail}.id, 'from', ${mailSender}, 'templateId', ${mail}.template_id, 'campaignId', ${mail}.campaign_id,
  'workflowId', ${mail}.workflow_id, 'sourceType', ${mail}.source_type,
  ${[...more, `'subject', coalesce(content.rendered_subject, content.subject, ${mail}.rendered_subject, campaign.subject)`].join(', ')})`;

/** The columns of `MailFacts`. */
export const mailFactsColumns = (mail: string): string => `
  ${mail}.id, ${mail}.project_id, ${mail}.contact_id, ${mail}.campaign_id, ${mail}.workflow_id, ${mailSender} as from_email,
  ${mailDepth} as depth, ${mailData(mail)} as data`;

/** Campaign mail takes its content from the campaign. */
export const mailFactsJoins = (mail: string): string => `
  left join email_contents content on content.email_id = ${mail}.id
  left join campaigns campaign on campaign.id = ${mail}.campaign_id
  left join executions execution on execution.id = ${mail}.execution_id`;

export function mailEventData(mail: MailFacts, more: Record<string, unknown>): Record<string, unknown> {
  const { id, fromEmail: from, data } = mail;
  return { ...data, messageId: from === null ? null : messageId({ id, from: { email: from } }), ...more };
}

// Events are recorded under the contact's lock. All code locks contacts in the order of their addresses.
const lockContacts = statement(
  'mail-events-contacts',
  `select 1 from contacts where id = any ($1::uuid[]) order by email collate "C" for update`,
);

export const lockContactsOf = async (trx: Db, contactIds: string[]): Promise<void> => {
  if (contactIds.length > 0) await lockContacts(trx, [contactIds]);
};

export interface MailEvent {
  name: string;
  mail: Pick<MailFacts, 'id' | 'projectId' | 'contactId' | 'depth'>;
  data: Record<string, unknown>;
}

/** Records events in the given order. The caller holds the contacts' locks. */
export async function recordMailEvents(trx: Db, events: MailEvent[]): Promise<void> {
  await recordEvents(
    trx,
    events.map(({ name, mail: { id, projectId, contactId, depth }, data }) => ({
      projectId,
      contactId,
      name,
      data,
      emailId: id,
      depth,
    })),
  );
}
