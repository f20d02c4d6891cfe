import type { Campaign } from '../../api/types.ts';

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
  { field: 'skippedCount', color: 'gray' },
  { field: 'cancelledCount', color: 'dark' },
  { field: 'pendingCount', color: 'gray' },
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
