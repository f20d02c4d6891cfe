import type { EmailStatus } from '../../api/types.ts';
import { compact, dayOf, oneOf, type RawSearch, textOf } from '../../search-params.ts';

const emailStatuses = [
  'PENDING',
  'SENDING',
  'SENT',
  'DELIVERED',
  'OPENED',
  'CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'FAILED',
  'SKIPPED',
  'CANCELLED',
  'UNKNOWN',
] as const satisfies EmailStatus[];

/** `BLOCKED` is waiting mail that policy keeps from being sent. */
type EmailFilter = EmailStatus | 'BLOCKED';
export const emailFilters = [...emailStatuses, 'BLOCKED'] as const satisfies EmailFilter[];

export interface EmailsSearch {
  status?: EmailFilter | undefined;
  /** The recipient's address. */
  email?: string | undefined;
  contactId?: string | undefined;
  campaignId?: string | undefined;
  templateId?: string | undefined;
  workflowId?: string | undefined;
  /** Days, as YYYY-MM-DD. */
  from?: string | undefined;
  to?: string | undefined;
}

export const emailsSearch = (raw: RawSearch): EmailsSearch =>
  compact({
    status: oneOf(raw.status, ...emailFilters),
    email: textOf(raw.email),
    contactId: textOf(raw.contactId),
    campaignId: textOf(raw.campaignId),
    templateId: textOf(raw.templateId),
    workflowId: textOf(raw.workflowId),
    from: dayOf(raw.from),
    to: dayOf(raw.to),
  });
