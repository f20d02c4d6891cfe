import { validationError } from '../../platform/errors.ts';
import { listNotifications, readNotifications } from '../../services/notifications/list.ts';
import { changeNotificationSettings, readNotificationSettings } from '../../services/notifications/settings.ts';
import { type NotificationType, notificationTypes } from '../../services/notifications/types.ts';
import { answer, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import {
  cursorPage,
  dateTime,
  flag,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';

const MAX_IDS = 100;
const count = () => wholeNumber({ min: 0 });

/** Returns null for all. */
function idsOrAll(ids: string[] | undefined, all: boolean | undefined): string[] | null {
  if (ids !== undefined && all === undefined) return ids;
  if (ids === undefined && all) return null;
  throw validationError([{ field: 'ids', message: 'either "ids" or "all": true is required', code: 'required' }]);
}

const notificationSchema = object({
  id: uuid(),
  type: oneOf(...notificationTypes),
  projectId: uuid(),
  projectName: text(),
  data: record(),
  createdAt: dateTime(),
  readAt: nullable(dateTime()),
});

const channels = () => object({ app: flag(), email: flag() });
const changedChannels = () => optional(object({ app: optional(flag()), email: optional(flag()) }));
const byType = <T>(schema: () => Typed<T>): Record<NotificationType, Typed<T>> =>
  Object.fromEntries(notificationTypes.map((type) => [type, schema()])) as Record<NotificationType, Typed<T>>;

const settingsSchema = object(byType(channels));

export const notifications = routes('Notifications', [
  route({
    method: 'GET',
    path: '/notifications',
    summary: 'List your notifications of the last 90 days over all projects, newest first',
    access: 'session',
    query: cursorPage(),
    answers: {
      200: answer(
        'A page of notifications, and how many are unread in all.',
        object({
          data: list(notificationSchema),
          cursor: nullable(text()),
          hasMore: flag(),
          total: count(),
          unread: count(),
        }),
      ),
    },
    handle: async ({ db, settings, user, query }) => {
      const { data, ...page } = await listNotifications(db, user.id, settings.secretKeys, query);
      return ok({
        ...page,
        data: data.map(({ createdAt, readAt, ...notification }) => ({
          ...notification,
          createdAt: createdAt.toISOString(),
          readAt: readAt?.toISOString() ?? null,
        })),
      });
    },
  }),
  route({
    method: 'POST',
    path: '/notifications/read',
    summary: 'Mark notifications as read: those with the given ids, or all',
    access: 'session',
    body: documented(
      object({
        ids: optional(list(uuid(), { min: 1, max: MAX_IDS })),
        all: optional(documented(flag(), { const: true })),
      }),
      { oneOf: [{ required: ['ids'] }, { required: ['all'] }] },
    ),
    answers: { 200: answer('How many were unread.', object({ read: count() })) },
    handle: async ({ db, user, body: { ids, all } }) =>
      ok({ read: await readNotifications(db, user.id, idsOrAll(ids, all)) }),
  }),
  route({
    method: 'GET',
    path: '/users/@me/notification-settings',
    summary: 'Get the settings of your notifications, in the application and by mail',
    access: 'session',
    answers: { 200: answer('The settings.', settingsSchema) },
    handle: async ({ db, user }) => ok(await readNotificationSettings(db, user.id)),
  }),
  route({
    method: 'PATCH',
    path: '/users/@me/notification-settings',
    summary: 'Change the settings of your notifications',
    access: 'session',
    body: object(byType(changedChannels)),
    answers: { 200: answer('The settings.', settingsSchema) },
    handle: async ({ db, user, body }) => ok(await changeNotificationSettings(db, user.id, body)),
  }),
]);
