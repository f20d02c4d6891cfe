import type { Campaign, RecipientStatus } from '../../api/types.ts';
import type { RecipientOutcome } from './search.ts';

/** Whether there are recipients with states. Before, `totalRecipients` is an estimate and all counts are 0. */
export const hasStarted = ({ status, totalRecipients }: Campaign): boolean =>
  status === 'SENDING' || status === 'SENT' || (status === 'CANCELLED' && totalRecipients > 0);

/** Recipients whose mail has an outcome. */
export const doneCount = (campaign: Campaign): number => campaign.totalRecipients - campaign.pendingCount;

export type OutcomeField =
  | 'sentCount'
  | 'pendingCount'
  | 'failedCount'
  | 'skippedCount'
  | 'cancelledCount'
  | 'unknownCount';

export const outcomes: { field: OutcomeField; color: string }[] = [
  { field: 'sentCount', color: 'teal' },
  { field: 'failedCount', color: 'red' },
  { field: 'unknownCount', color: 'orange' },
  { field: 'skippedCount', color: 'blue.5' },
  { field: 'cancelledCount', color: 'grape.5' },
  { field: 'pendingCount', color: 'gray.5' },
];

/** The status of the recipients that each counts. */
export const outcomeStatus = {
  sentCount: 'SENT',
  failedCount: 'FAILED',
  unknownCount: 'UNKNOWN',
  skippedCount: 'SKIPPED',
  cancelledCount: 'CANCELLED',
  pendingCount: 'PENDING',
} as const satisfies Record<OutcomeField, RecipientStatus>;

export const reactions = [
  'deliveredCount',
  'peopleOpenedCount',
  'humanClickedCount',
  'bouncedCount',
  'complainedCount',
  'unsubscribedCount',
] as const satisfies (keyof Campaign)[];

/** The filter of the recipients that each counts. */
export const reactionFilters = {
  deliveredCount: { outcome: 'DELIVERED' },
  peopleOpenedCount: { outcome: 'OPENED' },
  humanClickedCount: { outcome: 'CLICKED' },
  bouncedCount: { outcome: 'BOUNCED' },
  complainedCount: { outcome: 'COMPLAINED' },
  unsubscribedCount: { outcome: 'UNSUBSCRIBED' },
} as const satisfies Record<(typeof reactions)[number], { outcome: RecipientOutcome }>;
