import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { messageId } from '../../platform/mailer.ts';
import { recordEvents } from '../events/record.ts';

/** What is to be known of a mail for its events. */
export interface MailFacts {
  id: string;
  project_id: string;
  contact_id: string;
  campaign_id: string | null;
  workflow_id: string | null;
  /** Null once it is erased. */
  from_email: string | null;
  /** How many workflows deep it was caused: what is told of it may start the next. */
  depth: number;
  /** What every event of the mail says of it, but for its Message-ID. */
  data: Record<string, unknown>;
}

/** As SQL, of a ledger row with what `mailFactsFrom` joins to it, as are the others. */
export const mailSender = 'coalesce(content.from_email, campaign.from_email)';
export const mailDepth = 'coalesce(execution.depth + 1, 0)';

/** Of a ledger row `mail`; `more` are pairs. */
export const mailData = (mail: string, ...more: string[]): string => `jsonb_build_object(
  'emailId', ${mail}.id, 'from', ${mailSender}, 'templateId', ${mail}.template_id, 'campaignId', ${mail}.campaign_id,
  'workflowId', ${mail}.workflow_id, 'sourceType', ${mail}.source_type,
  ${[...more, `'subject', coalesce(content.rendered_subject, content.subject, ${mail}.rendered_subject, campaign.subject)`].join(', ')})`;

/** Columns of `MailFacts`. */
export const mailFacts = (mail: string): string => `
  ${mail}.id, ${mail}.project_id, ${mail}.contact_id, ${mail}.campaign_id, ${mail}.workflow_id, ${mailSender} as from_email,
  ${mailDepth} as depth, ${mailData(mail)} as data`;

/** The content of campaign mail is the campaign's. */
export const mailFactsFrom = (mail: string): string => `
  left join email_contents content on content.email_id = ${mail}.id
  left join campaigns campaign on campaign.id = ${mail}.campaign_id
  left join executions execution on execution.id = ${mail}.execution_id`;

export function mailEventData(mail: MailFacts, more: Record<string, unknown>): Record<string, unknown> {
  const { id, from_email: from, data } = mail;
  return { ...data, messageId: from === null ? null : messageId({ id, from: { email: from } }), ...more };
}

// Whatever is recorded of a contact is recorded under its lock; addresses are the order in which everybody locks.
const lock = statement(
  'mail-events-contacts',
  `select 1 from contacts where id = any ($1::uuid[]) order by email collate "C" for update`,
);

export const lockContactsOf = async (trx: Db, contactIds: string[]): Promise<void> => {
  if (contactIds.length > 0) await lock(trx, [contactIds]);
};

export interface MailEvent {
  name: string;
  mail: Pick<MailFacts, 'id' | 'project_id' | 'contact_id' | 'depth'>;
  data: Record<string, unknown>;
}

/** In the order given, under the locks of their contacts. */
export async function recordMailEvents(trx: Db, events: MailEvent[]): Promise<void> {
  await recordEvents(
    trx,
    events.map(({ name, mail: { id, project_id, contact_id, depth }, data }) => ({
      projectId: project_id,
      contactId: contact_id,
      name,
      data,
      emailId: id,
      depth,
    })),
  );
}
