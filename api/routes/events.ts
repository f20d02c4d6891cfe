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
import { rangeQuery } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, flag, nullable, object, optional, text, uuid, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import {
  eventNamesSchema,
  eventSchema,
  eventStatsSchema,
  eventUsageSchema,
  presentEvent,
  presentEventStats,
} from '../presenters/event.ts';
import { presentTracked, trackedContentSchema } from '../presenters/tracked.ts';
import { eventName, MAX_EVENT_NAME, trackBody } from './track.ts';

const contactNotFound = missing('contact', 'CONTACT_NOT_FOUND');
const refused = {
  ...keyReused,
  description: `${keyReused.description} Or the project has as many event names or custom fields as it may.`,
};
const params = { eventName: text({ max: MAX_EVENT_NAME }) };

const byContact = object({
  name: eventName(),
  contactId: uuid(),
  subscribed: optional(flag()),
  data: optional(nullable(contactData())),
});
const byAddress = object(trackBody());

type Body = typeof byContact | typeof byAddress extends Typed<infer T> ? T : never;

/** A contact by id, or by address as on /v1/track. */
const tracking: Typed<Body> = joi
  .alternatives()
  .conditional(joi.object({ contactId: joi.exist() }).unknown(), {
    // biome-ignore lint/suspicious/noThenProperty: joi calls it so
    then: byContact,
    otherwise: byAddress,
  })
  .required();

export const events = routes('Events', [
  route({
    method: 'POST',
    path: '/events/track',
    summary: 'Record an event as /v1/track does, or for an existing contact by id',
    access: 'secretKey',
    scope: 'events:write',
    body: tracking,
    answers: { 200: answer('The event is recorded.', trackedContentSchema), 404: contactNotFound, 409: refused },
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
    query: { ...cursorPage(), ...rangeQuery(), eventName: optional(text({ max: MAX_EVENT_NAME })) },
    answers: { 200: answer('A page of events.', cursorListSchema(eventSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(presentCursorList(await listEvents(db, project.projectId, settings.secretKeys, query), presentEvent)),
  }),
  route({
    method: 'GET',
    path: '/events/stats',
    heavy: 'read',
    summary: 'Count events and contacts per event name; the last 30 days by default',
    access: 'secretKey',
    scope: 'events:read',
    query: rangeQuery(),
    answers: { 200: answer('The most frequent first.', eventStatsSchema) },
    handle: async ({ db, project, query }) => ok(presentEventStats(await eventStats(db, project.projectId, query))),
  }),
  route({
    method: 'GET',
    path: '/events/names',
    summary: 'List event names: those in use, and those that the service records',
    access: 'secretKey',
    scope: 'events:read',
    answers: { 200: answer('The most frequent first.', eventNamesSchema) },
    handle: async ({ db, project }) => ok({ names: await listEventNames(db, project.projectId) }),
  }),
  route({
    method: 'GET',
    path: '/events/contact/:contactId',
    summary: 'List the events of a contact, newest first',
    access: 'secretKey',
    scope: 'events:read',
    params: { contactId: uuid() },
    query: { ...cursorPage(), ...rangeQuery() },
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
    summary: 'List what uses an event, and how often it was recorded',
    access: 'secretKey',
    scope: 'events:read',
    params,
    answers: { 200: answer('The usage.', eventUsageSchema), 404: missing('event') },
    handle: async ({ db, project, params }) => ok(await findEventUsage(db, project.projectId, params.eventName)),
  }),
  route({
    method: 'DELETE',
    path: '/events/:eventName',
    summary: 'Delete all events of a name with their counts',
    access: 'secretKey',
    scope: 'events:write',
    params,
    answers: {
      200: answer('The number of deleted events.', object({ deleted: wholeNumber({ min: 0 }) })),
      404: missing('event'),
    },
    handle: async ({ db, project, params }) => ok({ deleted: await deleteEvents(db, project, params.eventName) }),
  }),
]);
