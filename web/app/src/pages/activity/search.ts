import type { ActivityItem } from '../../api/types.ts';
import { compact, oneOf, type RawSearch, textOf } from '../../search-params.ts';

export const activityTypes = [
  'event.triggered',
  'email.sent',
  'email.delivered',
  'email.opened',
  'email.clicked',
  'email.bounced',
  'email.complained',
  'email.failed',
  'contact.subscribed',
  'contact.unsubscribed',
  'topic.subscribed',
  'topic.unsubscribed',
  'form.confirmed',
  'campaign.scheduled',
  'campaign.sent',
  'workflow.started',
  'workflow.completed',
] as const satisfies ActivityItem['type'][];

/** Types that people look for together. */
export const activityGroups = {
  mail: activityTypes.filter((type) => type.startsWith('email.')),
  reading: ['email.opened', 'email.clicked'],
  problems: ['email.bounced', 'email.complained', 'email.failed'],
  people: ['contact.subscribed', 'contact.unsubscribed', 'topic.subscribed', 'topic.unsubscribed', 'form.confirmed'],
  campaigns: ['campaign.scheduled', 'campaign.sent'],
  workflows: ['workflow.started', 'workflow.completed'],
} satisfies Record<string, ActivityItem['type'][]>;

type ActivityGroup = keyof typeof activityGroups;

export interface ActivitySearch {
  type?: ActivityGroup | ActivityItem['type'] | undefined;
  contactId?: string | undefined;
}

export const activitySearch = (raw: RawSearch): ActivitySearch =>
  compact({
    type: oneOf(raw.type, ...(Object.keys(activityGroups) as ActivityGroup[]), ...activityTypes),
    contactId: textOf(raw.contactId),
  });
