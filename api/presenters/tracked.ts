import type { Tracked } from '../../services/events/track.ts';
import { dateTime, flag, namedType, uuid } from '../http/schemas.ts';

export const trackedContentSchema = namedType('TrackedEvent', 'An event that was recorded.', {
  contact: uuid().description('Contact ID.'),
  event: uuid().description('Event ID.'),
  timestamp: dateTime().description('When the event was recorded.'),
});
export const trackedSchema = namedType('TrackResponse', 'The recorded event.', {
  success: flag().description('Always true.'),
  data: trackedContentSchema.description('The event.'),
});

export const presentTracked = ({ contactId, eventId, timestamp }: Tracked) => ({
  contact: contactId,
  event: eventId,
  timestamp: timestamp.toISOString(),
});
