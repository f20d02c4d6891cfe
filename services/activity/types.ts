import { shownTypes } from '../events/types.ts';

/** The types of items in the activity feed. */
export const activityTypes = [
  ...shownTypes,
  'campaign.scheduled',
  'campaign.sent',
  'workflow.started',
  'workflow.completed',
] as const;
export type ActivityType = (typeof activityTypes)[number];

export interface ActivityItem {
  /** Unique in the feed: two items of one campaign or execution have different ids. */
  id: string;
  type: ActivityType;
  timestamp: Date;
  contactId: string | null;
  contactEmail: string | null;
  metadata: Record<string, unknown>;
}
