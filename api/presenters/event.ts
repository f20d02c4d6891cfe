import type { EventRecord } from '../../services/events/list.ts';
import type { EventStats } from '../../services/events/stats.ts';
import { dateTime, flag, list, namedType, nullable, record, text, uuid, wholeNumber } from '../http/schemas.ts';
import { usersSchema } from './usage.ts';

const count = () => wholeNumber({ min: 0 });

const eventName = () => text().description('Event name.').example('signed_up');

export const eventSchema = namedType('Event', 'An event of a contact.', {
  id: uuid().description('Event ID.'),
  name: eventName(),
  data: record().description('Data of the event.').example({ plan: 'pro' }),
  contactId: uuid().description('Contact ID.'),
  emailId: nullable(uuid()).description('ID of the email the event is about; null if there is none.'),
  createdAt: dateTime().description('When the event was recorded.'),
});

export const presentEvent = ({ createdAt, ...event }: EventRecord) => ({
  ...event,
  createdAt: createdAt.toISOString(),
});

const eventNameStats = namedType('EventNameStats', 'How often an event was recorded in a time range.', {
  name: eventName(),
  count: count().description('Number of events.'),
  uniqueContacts: count().description('Number of distinct contacts.'),
  lastSeenAt: dateTime().description('When the event was last recorded.'),
});

export const eventStatsSchema = namedType('EventStats', 'Counts per event name.', {
  data: list(eventNameStats).description('Up to 1,000 event names, most frequent first.'),
});

export const presentEventStats = (stats: EventStats[]) => ({
  data: stats.map(({ lastSeenAt, ...counts }) => ({ ...counts, lastSeenAt: lastSeenAt.toISOString() })),
});

const namedEvents = namedType('EventName', 'An event name and how often it was recorded.', {
  name: eventName(),
  count: count().description('Number of events recorded; 0 if the name is unused.'),
  reserved: flag().description('Whether only Everpost can record the event.'),
});

export const eventNamesSchema = namedType('EventNameCatalog', 'The event names of a project.', {
  names: list(namedEvents).description(
    'Up to 5,000 names in use, most frequent first, then unused names of system and segment events.',
  ),
});

export const eventUsageSchema = namedType('EventUsage', 'Where an event is used.', {
  usedInSegments: usersSchema().description('Segments whose condition uses the event.'),
  usedInWorkflows: usersSchema().description('Workflows that the event starts, that wait for it, or that test for it.'),
  usedInCampaigns: usersSchema().description('Campaigns that use the event.'),
  totalCount: count().description('Number of events recorded, all time.'),
  uniqueContacts: count().description('Number of distinct contacts.'),
  canDelete: flag().description('Whether no segment, workflow or campaign uses the event.'),
});

export const eventsDeletedSchema = namedType('EventDeletion', 'The result of deleting events.', {
  deleted: count().description('Number of deleted events.'),
});
