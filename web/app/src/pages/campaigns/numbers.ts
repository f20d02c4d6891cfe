import type { Campaign } from '../../api/types.ts';

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

export const reactions = [
  'deliveredCount',
  'humanOpenedCount',
  'humanClickedCount',
  'bouncedCount',
  'complainedCount',
  'unsubscribedCount',
] as const satisfies (keyof Campaign)[];

/** Counts of people, and the counts that include machines. */
export const withMachines = { humanOpenedCount: 'openedCount', humanClickedCount: 'clickedCount' } as const;
