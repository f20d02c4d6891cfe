import type { Session } from '../../db/models/session.ts';
import { dateTime, flag, nullable, object, text, uuid } from '../http/schemas.ts';

export const sessionSchema = object({
  id: uuid(),
  createdAt: dateTime(),
  lastSeenAt: dateTime(),
  ip: nullable(text()),
  userAgent: nullable(text()),
  current: flag(),
});

export const presentSession = ({ id, createdAt, lastSeenAt, ip, userAgent }: Session, currentId: string) => ({
  id,
  createdAt: createdAt.toISOString(),
  lastSeenAt: lastSeenAt.toISOString(),
  ip,
  userAgent,
  current: id === currentId,
});
