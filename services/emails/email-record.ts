import type { Email } from '../../db/models/email.ts';
import { messageId } from '../../platform/mime/compose.ts';

/** A mail as the API shows it. Address and subject are null once erased. */
export interface EmailRecord {
  id: string;
  contactId: string;
  sourceType: Email['sourceType'];
  templateId: string | null;
  campaignId: string | null;
  workflowId: string | null;
  executionId: string | null;
  status: Email['status'];
  reason: string | null;
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

export interface EmailRow {
  id: string;
  contact_id: string;
  source_type: Email['sourceType'];
  template_id: string | null;
  campaign_id: string | null;
  workflow_id: string | null;
  execution_id: string | null;
  status: Email['status'];
  reason: string | null;
  attempts: number;
  unknown_outcomes: number;
  provider_message_id: string | null;
  to_email: string | null;
  from_email: string | null;
  subject: string | null;
  bounce_type: string | null;
  created_at: Date;
  updated_at: Date;
  sent_at: Date | null;
  delivered_at: Date | null;
  opened_at: Date | null;
  clicked_at: Date | null;
  bounced_at: Date | null;
  complained_at: Date | null;
}

/** SQL: whether an attempt is in flight. Not asked for campaign mail, whose recipients are pending until they have a result. */
export const IN_FLIGHT = `(e.campaign_id is null and exists (
  select 1 from outgoing_mails o where o.email_id = e.id and o.started_at is not null))`;

// Campaign mail takes its content from the campaign. Pending mail of a cancelled campaign is shown as cancelled.
export const SHOWN = `e.id, e.contact_id, e.source_type, e.template_id, e.campaign_id, e.workflow_id, e.execution_id,
  case when e.status = 'PENDING' and k.status = 'CANCELLED' then k.status
    when e.status = 'PENDING' and ${IN_FLIGHT} then 'SENDING' else e.status end as status,
  e.reason, e.attempts, e.unknown_outcomes, e.provider_message_id, coalesce(c.to_email, e.to_email, p.email) as to_email,
  coalesce(c.from_email, k.from_email) as from_email,
  coalesce(c.rendered_subject, c.subject, e.rendered_subject, k.subject) as subject, e.bounce_type, e.created_at,
  e.updated_at, e.sent_at, e.delivered_at, e.opened_at, e.clicked_at, e.bounced_at, e.complained_at`;

/** The joins after `from emails e`. */
export const CONTENT = `left join email_contents c on c.email_id = e.id
   left join campaigns k on k.id = e.campaign_id
   left join contacts p on p.id = e.contact_id and e.campaign_id is not null`;

export function recordOf(row: EmailRow): EmailRecord {
  const { id, from_email: from } = row;
  return {
    id,
    contactId: row.contact_id,
    sourceType: row.source_type,
    templateId: row.template_id,
    campaignId: row.campaign_id,
    workflowId: row.workflow_id,
    executionId: row.execution_id,
    status: row.status,
    reason: row.reason,
    attemptCount: row.attempts,
    unknownOutcomes: row.unknown_outcomes,
    messageId: from === null ? null : messageId({ id, from: { email: from } }),
    providerMessageId: row.provider_message_id,
    to: row.to_email,
    from,
    subject: row.subject,
    bounceType: row.bounce_type,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    sentAt: row.sent_at,
    deliveredAt: row.delivered_at,
    openedAt: row.opened_at,
    clickedAt: row.clicked_at,
    bouncedAt: row.bounced_at,
    complainedAt: row.complained_at,
  };
}
