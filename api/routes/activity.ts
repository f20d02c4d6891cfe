import joi from 'joi';
import { listActivity } from '../../services/activity/feed.ts';
import { activityStats, countRecentActivity } from '../../services/activity/stats.ts';
import { type ActivityType, activityTypes } from '../../services/activity/types.ts';
import { listUpcoming, listUpcomingGroups } from '../../services/activity/upcoming.ts';
import { answer, ok } from '../http/answers.ts';
import { rangeQuery, statsRangeQuery } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, flag, limit, list, namedType, oneOf, optional, uuid, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented, refuse } from '../http/violations.ts';
import {
  activityItemSchema,
  activityStatsSchema,
  presentActivityItem,
  presentUpcoming,
  presentUpcomingGroups,
  upcomingSchema,
} from '../presenters/activity.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';

const isType = (text: string): text is ActivityType => (activityTypes as readonly string[]).includes(text);

const ONE_TYPE = activityTypes.join('|').replaceAll('.', '\\.');

/** A comma-separated list. */
const types = (): Typed<ActivityType[]> =>
  documented(
    joi
      .string()
      .custom((value: string, helpers) => {
        const named = [...new Set(value.split(',').map((type) => type.trim()))];
        return named.every(isType)
          ? named
          : refuse(helpers, 'invalid_enum', `must be a comma-separated list of ${activityTypes.join(', ')}`);
      })
      .required(),
    { pattern: `^(${ONE_TYPE})(, *(${ONE_TYPE}))*$` },
  ).example('email.sent,email.opened');

const MAX_MINUTES = 30 * 24 * 60;

export const activity = routes('Activity', [
  route({
    method: 'GET',
    path: '/activity',
    heavy: 'read',
    summary: 'List the activity of a project, newest first',
    access: 'secretKey',
    scope: 'analytics:read',
    query: {
      ...cursorPage(),
      ...rangeQuery(),
      types: optional(types()).description('Only these activity types, separated by commas.'),
      contactId: optional(uuid()).description('Only activity of this contact.'),
    },
    answers: { 200: answer('A page of the activity feed.', cursorListSchema(activityItemSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(presentCursorList(await listActivity(db, project.projectId, settings.secretKeys, query), presentActivityItem)),
  }),
  route({
    method: 'GET',
    path: '/activity/stats',
    heavy: 'read',
    summary: 'Get activity totals, over whole hours',
    access: 'secretKey',
    scope: 'analytics:read',
    query: statsRangeQuery(),
    answers: { 200: answer('The totals. An email counts once per result.', activityStatsSchema) },
    handle: async ({ db, project, query }) => ok(await activityStats(db, project.projectId, query)),
  }),
  route({
    method: 'GET',
    path: '/activity/recent-count',
    summary: 'Count the activity of the last minutes',
    access: 'secretKey',
    scope: 'analytics:read',
    query: {
      minutes: limit({ fallback: 5, max: MAX_MINUTES }).description(
        'Length of the range in minutes; 43,200 (30 days) at most.',
      ),
    },
    answers: {
      200: answer(
        'The count.',
        namedType('RecentActivityCount', 'Number of recent items of the activity feed.', {
          count: wholeNumber({ min: 0 }).description('Number of items.'),
          minutes: wholeNumber({ min: 1 }).description('Length of the range in minutes.'),
        }),
      ),
    },
    handle: async ({ db, project, query: { minutes } }) =>
      ok({ count: await countRecentActivity(db, project.projectId, minutes), minutes }),
  }),
  route({
    method: 'GET',
    path: '/activity/types',
    summary: 'List the activity types',
    access: 'secretKey',
    scope: 'analytics:read',
    answers: {
      200: answer(
        'The types.',
        namedType('ActivityTypeCatalog', 'The types of items in the activity feed.', {
          types: list(oneOf(...activityTypes)).description('Activity types.'),
        }),
      ),
    },
    handle: () => ok({ types: activityTypes }),
  }),
  route({
    method: 'GET',
    path: '/activity/upcoming',
    summary: 'List scheduled campaigns and waiting workflow steps, earliest first',
    access: 'secretKey',
    scope: 'analytics:read',
    heavy: 'read',
    query: {
      limit: limit(),
      grouped: optional(flag()).description(
        'With `true`, waiting contacts are counted by workflow, step and day instead of listed.',
      ),
    },
    answers: { 200: answer('The upcoming items, or groups.', upcomingSchema) },
    handle: async ({ db, project, query }) =>
      ok(
        query.grouped
          ? presentUpcomingGroups(await listUpcomingGroups(db, project.projectId, query.limit))
          : presentUpcoming(await listUpcoming(db, project.projectId, query.limit)),
      ),
  }),
]);
