import type { Tracked } from '../../services/events/track.ts';
import { dateTime, flag, object, uuid } from '../http/schemas.ts';

export const trackedContentSchema = object({ contact: uuid(), event: uuid(), timestamp: dateTime() });
export const trackedSchema = object({ success: flag(), data: trackedContentSchema });

export const presentTracked = ({ contactId, eventId, timestamp }: Tracked) => ({
  contact: contactId,
  event: eventId,
  timestamp: timestamp.toISOString(),
});
