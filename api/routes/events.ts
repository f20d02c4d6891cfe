import joi from 'joi';
import { listEvents, listEventsOfContact } from '../../services/events/list.ts';
import { listEventNames } from '../../services/events/names.ts';
import { deleteEvents } from '../../services/events/remove.ts';
import { eventStats } from '../../services/events/stats.ts';
import { trackEvent } from '../../services/events/track.ts';
import { trackEventOf } from '../../services/events/track-contact.ts';
import { findEventUsage } from '../../services/usage/event.ts';
import { answer, missing, ok } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import { keyReused, onceByKey } from '../http/idempotency.ts';
import { named } from '../http/json-schema.ts';
import { rangeQuery } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, flag, namedType, nullable, optional, text, uuid } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import {
  eventNamesSchema,
  eventSchema,
  eventStatsSchema,
  eventsDeletedSchema,
  eventUsageSchema,
  presentEvent,
  presentEventStats,
} from '../presenters/event.ts';
import { presentTracked, trackedContentSchema } from '../presenters/tracked.ts';
import { eventName, MAX_EVENT_NAME, trackRequest } from './track.ts';

const contactNotFound = missing('contact', 'CONTACT_NOT_FOUND');
const refused = {
  ...keyReused,
  description: `${keyReused.description} Or the project has the maximum number of event names or custom fields.`,
};
const params = { eventName: text({ max: MAX_EVENT_NAME }).description('Event name.').example('signed_up') };

/** Without a default: all events are listed. */
const range = () => {
  const { startDate, endDate } = rangeQuery();
  return {
    startDate: startDate.description('Start of the range: a day or a time, in UTC unless it has an offset.'),
    endDate: endDate.description('End of the range: a day, which is included, or a time, which is not.'),
  };
};

/** Widened to whole hours. */
const statsRange = () => {
  const { startDate, endDate } = rangeQuery();
  return {
    startDate: startDate.description(
      'Start of the range, rounded down to the hour. By default, the range covers 30 days, including its last day.',
    ),
    endDate: endDate.description('End of the range, rounded up to the hour; now by default. A day is included.'),
  };
};

const byContact = namedType('TrackContactEventRequest', 'An event of an existing contact, given by ID.', {
  name: eventName().description('Event name.').example('signed_up'),
  contactId: uuid().description('Contact ID.'),
  subscribed: optional(flag()).description('New subscription state; unchanged if left out.'),
  data: optional(nullable(contactData()))
    .description('Custom fields to store with the contact, and the data of the event.')
    .example({ plan: 'pro' }),
});
type Body = typeof byContact | typeof trackRequest extends Typed<infer T> ? T : never;

const tracking: Typed<Body> = named(
  'TrackEventRequest',
  'An event of a contact, given by ID or, as on /v1/track, by address.',
  joi
    .alternatives()
    .conditional(joi.object({ contactId: joi.exist() }).unknown(), {
      // biome-ignore lint/suspicious/noThenProperty: joi calls it so
      then: byContact,
      otherwise: trackRequest.required(),
    })
    .required(),
);

export const events = routes('Events', [
  route({
    method: 'POST',
    path: '/events/track',
    summary: 'Record an event of a contact, by ID or address',
    access: 'secretKey',
    scope: 'events:write',
    body: tracking,
    answers: { 200: answer('The event was recorded.', trackedContentSchema), 404: contactNotFound, 409: refused },
    handle: async (call) => {
      const { body, project, settings } = call;
      const tracked = await onceByKey(call, async (db) => {
        const result =
          'contactId' in body
            ? await trackEventOf(db, project, body, settings.limits)
            : await trackEvent(db, project, body, settings.limits);
        return { result, response: { contact: result.contactId, event: result.eventId } };
      });
      return ok(presentTracked(tracked));
    },
  }),
  route({
    method: 'GET',
    path: '/events',
    summary: 'List events, newest first',
    access: 'secretKey',
    scope: 'events:read',
    query: {
      ...cursorPage(),
      ...range(),
      eventName: optional(text({ max: MAX_EVENT_NAME })).description('Only events with this name.'),
    },
    answers: { 200: answer('A page of events.', cursorListSchema(eventSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(presentCursorList(await listEvents(db, project.projectId, settings.secretKeys, query), presentEvent)),
  }),
  route({
    method: 'GET',
    path: '/events/stats',
    heavy: 'read',
    summary: 'Count events and contacts per event name',
    access: 'secretKey',
    scope: 'events:read',
    query: statsRange(),
    answers: { 200: answer('Counts per event name, most frequent first.', eventStatsSchema) },
    handle: async ({ db, project, query }) => ok(presentEventStats(await eventStats(db, project.projectId, query))),
  }),
  route({
    method: 'GET',
    path: '/events/names',
    summary: 'List event names',
    access: 'secretKey',
    scope: 'events:read',
    answers: { 200: answer('The event names, most frequent first.', eventNamesSchema) },
    handle: async ({ db, project }) => ok({ names: await listEventNames(db, project.projectId) }),
  }),
  route({
    method: 'GET',
    path: '/events/contact/:contactId',
    summary: 'List the events of a contact, newest first',
    access: 'secretKey',
    scope: 'events:read',
    params: { contactId: uuid().description('Contact ID.') },
    query: { ...cursorPage(), ...range() },
    answers: { 200: answer('A page of events.', cursorListSchema(eventSchema)), 404: contactNotFound },
    handle: async ({ db, project, settings, params, query }) =>
      ok(
        presentCursorList(
          await listEventsOfContact(db, project.projectId, settings.secretKeys, params.contactId, query),
          presentEvent,
        ),
      ),
  }),
  route({
    method: 'GET',
    path: '/events/:eventName/usage',
    heavy: 'read',
    summary: 'Get the segments, workflows and campaigns that use an event',
    access: 'secretKey',
    scope: 'events:read',
    params,
    answers: { 200: answer('The usage.', eventUsageSchema), 404: missing('event') },
    handle: async ({ db, project, params }) => ok(await findEventUsage(db, project.projectId, params.eventName)),
  }),
  route({
    method: 'DELETE',
    path: '/events/:eventName',
    summary: 'Delete all events with a name, and their counts',
    access: 'secretKey',
    scope: 'events:write',
    params,
    answers: {
      200: answer('The events were deleted.', eventsDeletedSchema),
      404: missing('event'),
    },
    handle: async ({ db, project, params }) => ok({ deleted: await deleteEvents(db, project, params.eventName) }),
  }),
]);
