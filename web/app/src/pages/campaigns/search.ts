import type { CampaignStatus, RecipientStatus } from '../../api/types.ts';
import { compact, oneOf, type RawSearch, textOf } from '../../search-params.ts';
import { type Late, lateRules } from './schedule.ts';

export const campaignStatuses = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const;

export const recipientStatuses = ['PENDING', 'SENT', 'FAILED', 'SKIPPED', 'CANCELLED', 'UNKNOWN'] as const;

export const recipientOutcomes = [
  'DELIVERED',
  'OPENED',
  'NOT_OPENED',
  'CLICKED',
  'NOT_CLICKED',
  'BOUNCED',
  'COMPLAINED',
  'UNSUBSCRIBED',
] as const;
export type RecipientOutcome = (typeof recipientOutcomes)[number];

/** What the page shows, and which recipients. */
export interface CampaignSearch {
  tab?: string | undefined;
  recipients?: RecipientStatus | undefined;
  outcome?: RecipientOutcome | undefined;
  link?: string | undefined;
  reason?: string | undefined;
  search?: string | undefined;
}

export interface CampaignsSearch {
  search?: string | undefined;
  status?: CampaignStatus | undefined;
}

interface ComposerSearch {
  step?: number | undefined;
  /** Local time, as the browser's input has it. */
  sendAt?: string | undefined;
  /** What happens to recipients whose clocks have shown it already; undefined where it is the user's time. */
  late?: Late | undefined;
}

export const campaignsSearch = (raw: RawSearch): CampaignsSearch =>
  compact({ search: textOf(raw.search), status: oneOf(raw.status, ...campaignStatuses) });

export const newCampaignSearch = (
  raw: RawSearch,
): { segmentId?: string | undefined; templateId?: string | undefined } =>
  compact({ segmentId: textOf(raw.segmentId), templateId: textOf(raw.templateId) });

export const campaignSearch = (raw: RawSearch): CampaignSearch =>
  compact({
    tab: textOf(raw.tab),
    recipients: oneOf(raw.recipients, ...recipientStatuses),
    outcome: oneOf(raw.outcome, ...recipientOutcomes),
    link: textOf(raw.link),
    reason: textOf(raw.reason),
    search: textOf(raw.search),
  });

/** Names all even if they are refused: the router keeps what a page does not name as it is in the address. */
export const editCampaignSearch = (raw: RawSearch): ComposerSearch => ({
  step: typeof raw.step === 'number' ? raw.step : undefined,
  sendAt: typeof raw.sendAt === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(raw.sendAt) ? raw.sendAt : undefined,
  late: oneOf(raw.late, ...lateRules),
});
