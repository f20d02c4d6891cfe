import joi from 'joi';
import { publicKeyLimits } from '../../platform/limits.ts';
import { isReservedEvent, UNRESERVED_EVENT_PATTERN } from '../../services/events/reserved.ts';
import { trackEvent } from '../../services/events/track.ts';
import { refuseTopics, requireUnreservedByTopic } from '../../services/topics/events.ts';
import { answer, failure, success } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import { keyReused, onceByKey } from '../http/idempotency.ts';
import { route, routes } from '../http/route.ts';
import { email, flag, nullable, optional, request } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented, refuse } from '../http/violations.ts';
import { presentTracked, trackedSchema } from '../presenters/tracked.ts';

export const MAX_EVENT_NAME = 255;

export const eventName = (): Typed<string> =>
  documented(
    joi
      .string()
      .min(1)
      .max(MAX_EVENT_NAME)
      .custom((name: string, helpers) =>
        isReservedEvent(name)
          ? refuse(helpers, 'reserved_event', 'is reserved for events that Everpost records')
          : name,
      )
      .required(),
    { pattern: UNRESERVED_EVENT_PATTERN },
  );

export const trackRequest = request('TrackRequest', 'An event of a contact.', {
  email: email().description('Email address of the contact, who is created if needed.'),
  event: eventName().description('Event name.').example('signed_up'),
  subscribed: optional(flag()).description('New subscription state; unchanged if left out.'),
  topics: optional(joi.any()).description('Refused where the project has topics: a public key proves no consent.'),
  data: optional(nullable(contactData()))
    .description('Custom fields to store with the contact, and the data of the event.')
    .example({ plan: 'pro' }),
});

export const track = routes('Events', [
  route({
    method: 'POST',
    path: '/v1/track',
    checksKey: true,
    summary: 'Record an event of a contact, and create or update the contact',
    access: 'publicKey',
    scope: 'track',
    body: trackRequest,
    answers: {
      200: answer('The event is recorded.', trackedSchema),
      403: failure('The policy of the public key does not allow it, or the project is disabled.', 'FORBIDDEN'),
      409: keyReused,
    },
    handle: async (call) => {
      const tracked = await onceByKey(call, async (db) => {
        if (call.body.topics !== undefined) await refuseTopics(db, call.project.projectId);
        await requireUnreservedByTopic(db, call.project.projectId, 'event', call.body.event);
        const limits = publicKeyLimits(call.settings.limits);
        const { origin } = call.request.headers;
        const result = await trackEvent(db, call.project, call.body, limits, { origin });
        return { result, response: { contact: result.contactId, event: result.eventId } };
      });
      return success(presentTracked(tracked));
    },
  }),
]);
