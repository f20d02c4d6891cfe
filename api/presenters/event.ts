import type { EventRecord } from '../../services/events/list.ts';
import type { EventStats } from '../../services/events/stats.ts';
import { dateTime, flag, list, nullable, object, record, text, uuid, wholeNumber } from '../http/schemas.ts';

const count = () => wholeNumber({ min: 0 });
const named = () => list(object({ id: uuid(), name: text() }));

export const eventSchema = object({
  id: uuid(),
  name: text(),
  data: record(),
  contactId: uuid(),
  emailId: nullable(uuid()),
  createdAt: dateTime(),
});

export const presentEvent = ({ createdAt, ...event }: EventRecord) => ({
  ...event,
  createdAt: createdAt.toISOString(),
});

export const eventStatsSchema = object({
  data: list(object({ name: text(), count: count(), uniqueContacts: count(), lastSeenAt: dateTime() })),
});

export const presentEventStats = (stats: EventStats[]) => ({
  data: stats.map(({ lastSeenAt, ...counts }) => ({ ...counts, lastSeenAt: lastSeenAt.toISOString() })),
});

export const eventNamesSchema = object({
  names: list(object({ name: text(), count: count(), reserved: flag() })),
});

export const eventUsageSchema = object({
  usedInSegments: named(),
  usedInWorkflows: named(),
  usedInCampaigns: named(),
  totalCount: count(),
  uniqueContacts: count(),
  canDelete: flag(),
});
