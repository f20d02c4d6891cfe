import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type Channels, defaultChannels, type NotificationType, notificationTypes } from './types.ts';

export type NotificationSettings = Record<NotificationType, Channels>;

const read = statement<{ type: string } & Channels>(
  'notification-settings',
  'select type, app, email from notification_settings where user_id = $1',
);

export async function readNotificationSettings(db: Db, userId: string): Promise<NotificationSettings> {
  const stored = new Map((await read(db, [userId])).map(({ type, app, email }) => [type, { app, email }]));
  return Object.fromEntries(
    notificationTypes.map((type) => [type, stored.get(type) ?? defaultChannels(type)]),
  ) as NotificationSettings;
}

const write = statement(
  'notification-settings-write',
  `insert into notification_settings as s (user_id, type, app, email)
   select $1, type, coalesce(app, default_app), coalesce(email, default_email)
   from unnest($2::text[], $3::boolean[], $4::boolean[], $5::boolean[], $6::boolean[])
     as given (type, app, email, default_app, default_email)
   on conflict (user_id, type) do update set
     app = coalesce((select g.app from unnest($2::text[], $3::boolean[]) as g (type, app) where g.type = s.type), s.app),
     email = coalesce((select g.email from unnest($2::text[], $4::boolean[]) as g (type, email) where g.type = s.type), s.email)`,
);

export type SettingsChange = Partial<Record<NotificationType, Partial<Channels> | undefined>>;

/** Changes what is given and keeps the rest, also of two requests at once. */
export async function changeNotificationSettings(
  db: Db,
  userId: string,
  change: SettingsChange,
): Promise<NotificationSettings> {
  const types = notificationTypes.filter((type) => change[type] !== undefined);
  if (types.length > 0)
    await write(db, [
      userId,
      types,
      types.map((type) => change[type]?.app ?? null),
      types.map((type) => change[type]?.email ?? null),
      types.map((type) => defaultChannels(type).app),
      types.map((type) => defaultChannels(type).email),
    ]);
  return readNotificationSettings(db, userId);
}
