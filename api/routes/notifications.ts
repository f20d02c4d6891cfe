import { validationError } from '../../platform/errors.ts';
import { listNotifications, readNotifications } from '../../services/notifications/list.ts';
import { changeNotificationSettings, readNotificationSettings } from '../../services/notifications/settings.ts';
import { type NotificationType, notificationTypes } from '../../services/notifications/types.ts';
import { answer, ok } from '../http/answers.ts';
import { named } from '../http/json-schema.ts';
import { route, routes } from '../http/route.ts';
import {
  cursorPage,
  dateTime,
  flag,
  list,
  namedType,
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

const notificationSchema = namedType('Notification', 'A notification for a member of a project.', {
  id: uuid().description('Notification ID.'),
  type: oneOf(...notificationTypes).description('Notification type.'),
  projectId: uuid().description('Project ID.'),
  projectName: text().description('Project name.').example('Acme'),
  data: record()
    .description('Details, depending on the type.')
    .example({ campaignId: '01928c7e-0000-7000-8000-000000000002', name: 'Spring news' }),
  createdAt: dateTime().description('When the notification was created.'),
  readAt: nullable(dateTime()).description('When the notification was marked as read; null if unread.'),
});

const notificationListSchema = namedType('NotificationList', 'One page of a list.', {
  data: list(notificationSchema).description('The items of this page.'),
  cursor: nullable(text()).description('Pass it as `cursor` to get the next page; null on the last one.'),
  hasMore: flag().description('Whether there is a next page.'),
  total: count().description('Number of items on all pages; 0 on pages after the first.'),
  unread: count().description('Number of unread notifications on all pages.'),
});

const channels = namedType('NotificationChannels', 'Where a type of notification is delivered.', {
  app: flag().description('Whether it is shown in the dashboard.'),
  email: flag().description('Whether it is emailed.'),
});
const changedChannels = optional(
  namedType('NotificationChannelsChange', 'The changes; fields that are left out stay as they are.', {
    app: optional(flag()).description('Whether it is shown in the dashboard.'),
    email: optional(flag()).description('Whether it is emailed.'),
  }),
);

const typeTexts: Record<NotificationType, string> = {
  'campaign.finished': 'A campaign was sent. Not emailed by default.',
  'campaign.paused': 'Everpost paused a campaign.',
  'domain.lost': 'A domain is no longer verified.',
  'endpoint.disabled': 'A webhook endpoint was disabled because its deliveries failed.',
  'form.attacked': 'A form is under attack by bots.',
  'import.finished': 'An import completed or failed. Not emailed by default.',
  'project.near_limit': 'A project is near a billing limit or has reached it. For ADMIN and OWNER only.',
};
const byType = <T>(schema: Typed<T>): Record<NotificationType, Typed<T>> =>
  Object.fromEntries(notificationTypes.map((type) => [type, schema.description(typeTexts[type])])) as Record<
    NotificationType,
    Typed<T>
  >;

const settingsSchema = namedType(
  'NotificationSettings',
  'Which notifications a user gets, and where.',
  byType(channels),
);

export const notifications = routes('Notifications', [
  route({
    method: 'GET',
    path: '/notifications',
    summary: 'List your notifications of the last 90 days in all projects, newest first',
    access: 'session',
    query: cursorPage(),
    answers: {
      200: answer('A page of notifications.', notificationListSchema),
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
    summary: 'Mark notifications as read',
    access: 'session',
    body: named(
      'MarkNotificationsReadRequest',
      'Either some notifications or all.',
      documented(
        object({
          ids: optional(list(uuid(), { min: 1, max: MAX_IDS })).description(
            `Notification IDs, at most ${MAX_IDS}. Required without \`all\`.`,
          ),
          all: optional(documented(flag(), { const: true })).description(
            'True to mark all notifications. Not allowed with `ids`.',
          ),
        }),
        { oneOf: [{ required: ['ids'] }, { required: ['all'] }] },
      ),
    ),
    answers: {
      200: answer(
        'The notifications are marked as read.',
        namedType('MarkedNotifications', 'Result of marking notifications as read.', {
          read: count().description('Number of notifications that were unread.'),
        }),
      ),
    },
    handle: async ({ db, user, body: { ids, all } }) =>
      ok({ read: await readNotifications(db, user.id, idsOrAll(ids, all)) }),
  }),
  route({
    method: 'GET',
    path: '/users/@me/notification-settings',
    summary: 'Get your notification settings',
    access: 'session',
    answers: { 200: answer('The settings.', settingsSchema) },
    handle: async ({ db, user }) => ok(await readNotificationSettings(db, user.id)),
  }),
  route({
    method: 'PATCH',
    path: '/users/@me/notification-settings',
    summary: 'Update your notification settings',
    access: 'session',
    body: namedType(
      'UpdateNotificationSettingsRequest',
      'The changes; types that are left out stay as they are.',
      byType(changedChannels),
    ),
    answers: { 200: answer('The settings.', settingsSchema) },
    handle: async ({ db, user, body }) => ok(await changeNotificationSettings(db, user.id, body)),
  }),
]);
