import { shownTypes } from '../events/types.ts';

/** What the feed of activity is made of. */
export const activityTypes = [
  ...shownTypes,
  'campaign.scheduled',
  'campaign.sent',
  'workflow.started',
  'workflow.completed',
] as const;
export type ActivityType = (typeof activityTypes)[number];

export interface ActivityItem {
  /** Unique in the feed: what happened to one campaign or execution twice has two. */
  id: string;
  type: ActivityType;
  timestamp: Date;
  contactId: string | null;
  contactEmail: string | null;
  metadata: Record<string, unknown>;
}
