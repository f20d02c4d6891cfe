import type { Session } from '../../db/models/session.ts';
import { dateTime, flag, namedType, nullable, text, uuid } from '../http/schemas.ts';

export const sessionSchema = namedType('Session', 'A session of the user.', {
  id: uuid().description('Session ID.'),
  createdAt: dateTime().description('When the session started.'),
  lastSeenAt: dateTime().description('When the session was last used, to the minute.'),
  ip: nullable(text()).description('IP address of the last use; null if unknown.'),
  userAgent: nullable(text())
    .description('User-Agent header of the last use, at most 500 characters; null if none was sent.')
    .example('Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'),
  current: flag().description('Whether this session made the request.'),
});

export const presentSession = ({ id, createdAt, lastSeenAt, ip, userAgent }: Session, currentId: string) => ({
  id,
  createdAt: createdAt.toISOString(),
  lastSeenAt: lastSeenAt.toISOString(),
  ip,
  userAgent,
  current: id === currentId,
});
