import type { Db } from '../../db/connect.ts';
import type { Email } from '../../db/models/email.ts';
import { statement } from '../../db/statement.ts';
import { messageId } from '../../platform/mailer.ts';
import { recordEvents } from '../events/record.ts';

/** What every event of a mail says of it. */
export interface MailFacts {
  id: string;
  project_id: string;
  contact_id: string;
  source_type: Email['sourceType'];
  template_id: string | null;
  campaign_id: string | null;
  workflow_id: string | null;
  /** Null once it is erased. */
  from_email: string | null;
  subject: string | null;
  /** How many workflows deep it was caused: what is told of it may start the next. */
  depth: number;
}

/** Columns of `MailFacts` for a ledger row `mail`, with what `mailFactsFrom` joins to it. */
export const mailFacts = (mail: string): string => `
  ${mail}.id, ${mail}.project_id, ${mail}.contact_id, ${mail}.source_type, ${mail}.template_id, ${mail}.campaign_id,
  ${mail}.workflow_id, coalesce(content.from_email, campaign.from_email) as from_email,
  coalesce(content.rendered_subject, content.subject, ${mail}.rendered_subject, campaign.subject) as subject,
  coalesce(execution.depth + 1, 0) as depth`;

/** The content of campaign mail is the campaign's. */
export const mailFactsFrom = (mail: string): string => `
  left join email_contents content on content.email_id = ${mail}.id
  left join campaigns campaign on campaign.id = ${mail}.campaign_id
  left join executions execution on execution.id = ${mail}.execution_id`;

export function mailEventData(mail: MailFacts, more: Record<string, unknown>): Record<string, unknown> {
  const { id, from_email: from } = mail;
  return {
    emailId: id,
    messageId: from === null ? null : messageId({ id, from: { email: from } }),
    subject: mail.subject,
    from,
    templateId: mail.template_id,
    campaignId: mail.campaign_id,
    workflowId: mail.workflow_id,
    sourceType: mail.source_type,
    ...more,
  };
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
