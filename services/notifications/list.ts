import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import type { NotificationType } from './types.ts';

export interface Notification {
  id: string;
  type: NotificationType;
  projectId: string;
  projectName: string;
  data: Record<string, unknown>;
  createdAt: Date;
  readAt: Date | null;
}

/** Those of projects that the user may still see. */
const SHOWN = `from notifications n
   join memberships m on m.project_id = n.project_id and m.user_id = n.user_id and m.status = 'ACTIVE'
   join projects p on p.id = n.project_id and p.deleted_at is null
   join users u on u.id = n.user_id and (u.totp_enabled_at is not null or not p.require_two_factor)
   where n.user_id = $1 and n.in_app`;

const page = statement<Notification>(
  'notifications-page',
  `select n.id, n.type, n.project_id, p.name as project_name, n.data, n.created_at,
     n.read_at
   ${SHOWN} and ($2::uuid is null or n.id < $2) order by n.id desc limit $3`,
);

const count = statement<{ total: number; unread: number }>(
  'notifications-count',
  `select count(*)::integer as total, count(*) filter (where n.read_at is null)::integer as unread ${SHOWN}`,
);

export type NotificationPage = CursorPage<Notification> & { unread: number };

/** Returns the notifications of a user over all projects, the newest first. */
export async function listNotifications(
  db: Db,
  userId: string,
  keys: SigningKeys,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<NotificationPage> {
  const boundTo = [userId, 'notifications'];
  const before = cursor === undefined ? null : (openCursor(keys, boundTo, cursor) as { id: string }).id;
  const [rows, [counts]] = await Promise.all([page(db, [userId, before, limit + 1]), count(db, [userId])]);
  const unread = counts?.unread ?? 0;
  const total = before === null ? (counts?.total ?? 0) : 0;
  return { ...cutPage(rows, { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, { id }) }), unread };
}

const read = statement<{ id: string }>(
  'notifications-read',
  `update notifications set read_at = now()
   where user_id = $1 and read_at is null and in_app and ($2::uuid[] is null or id = any ($2)) returning id`,
);

/** Marks notifications of the user as read; all of them without ids. Returns how many were unread. */
export async function readNotifications(db: Db, userId: string, ids: string[] | null): Promise<number> {
  return (await read(db, [userId, ids])).length;
}
