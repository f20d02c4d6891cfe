import type { Email } from '../../db/models/email.ts';
import { messageId } from '../../platform/mime/compose.ts';

/** A mail as the API shows it. Address and subject are null once erased. */
export interface EmailRecord {
  id: string;
  /** Null for the confirmation of a form, which is no contact yet. */
  contactId: string | null;
  sourceType: Email['sourceType'];
  templateId: string | null;
  campaignId: string | null;
  workflowId: string | null;
  executionId: string | null;
  status: Email['status'];
  reason: string | null;
  /** Until when a PENDING email is postponed, by `reason`. */
  postponedUntil: Date | null;
  attemptCount: number;
  unknownOutcomes: number;
  messageId: string | null;
  providerMessageId: string | null;
  to: string | null;
  from: string | null;
  subject: string | null;
  bounceType: string | null;
  createdAt: Date;
  updatedAt: Date;
  sentAt: Date | null;
  deliveredAt: Date | null;
  openedAt: Date | null;
  clickedAt: Date | null;
  bouncedAt: Date | null;
  complainedAt: Date | null;
}

/** Without `messageId`, whose column only holds its place in the answer. */
export type EmailRow = EmailRecord;

/** SQL: whether an attempt is in flight. Not asked for campaign mail, whose recipients are pending until they have a result. */
export const IN_FLIGHT = `(e.campaign_id is null and exists (
  select 1 from outgoing_mails o where o.email_id = e.id and o.started_at is not null))`;

// Campaign mail takes its content from the campaign. Pending mail of a cancelled campaign is shown as cancelled.
export const SHOWN = `e.id, case when not e.without_events or e.submission_id is null then e.contact_id end as contact_id,
  e.source_type, e.template_id, e.campaign_id, e.workflow_id, e.execution_id,
  case when e.status = 'PENDING' and k.status = 'CANCELLED' then k.status
    when e.status = 'PENDING' and ${IN_FLIGHT} then 'SENDING' else e.status end as status,
  case when e.status = 'PENDING' and k.status = 'CANCELLED' then 'campaign cancelled' else e.reason end as reason,
  case when k.status is distinct from 'CANCELLED' then postponed_until(e.status, e.reason, e.due_at) end as postponed_until,
  e.attempts as attempt_count, e.unknown_outcomes, null as message_id, e.provider_message_id,
  coalesce(c.to_email, e.to_email, p.email) as to, coalesce(c.from_email, k.from_email) as from,
  coalesce(c.rendered_subject, c.subject, e.rendered_subject, k.subject) as subject, e.bounce_type, e.created_at,
  e.updated_at, e.sent_at, e.delivered_at, e.opened_at, e.clicked_at, e.bounced_at, e.complained_at`;

/** The joins after `from emails e`. */
export const CONTENT = `left join email_contents c on c.email_id = e.id
   left join campaigns k on k.id = e.campaign_id
   left join contacts p on p.id = e.contact_id and e.campaign_id is not null`;

export function recordOf(row: EmailRow): EmailRecord {
  const { id, from } = row;
  return { ...row, messageId: from === null ? null : messageId({ id, from: { email: from } }) };
}
