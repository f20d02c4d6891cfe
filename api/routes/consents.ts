import { consentMethods } from '../../services/access/consent-context.ts';
import { findContact } from '../../services/contacts/find.ts';
import { changeContactTopics, frequencyUnits, readContactTopics } from '../../services/topics/choices.ts';
import { consentActions, exportConsents, listConsents } from '../../services/topics/consents.ts';
import { readProof } from '../../services/topics/proof.ts';
import { answer, csvFile, missing, ok, page } from '../http/answers.ts';
import { rangeMoment } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import {
  cursorPage,
  dateTime,
  email,
  nullable,
  object,
  oneOf,
  optional,
  request,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { confirmationMode, givenConsent, topicChoices } from '../http/topic-schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { presentProof } from '../presenters/proof.ts';
import { consentSchema, contactTopicsSchema, presentConsent, presentContactTopics } from '../presenters/topic.ts';

const params = { id: uuid().description('Contact ID.') };
const noContact = missing('contact', 'CONTACT_NOT_FOUND');

export const consents = routes('Topics', [
  route({
    method: 'GET',
    path: '/contacts/:id/topics',
    summary: 'Get what a contact receives: the state of every topic, snooze and frequency',
    access: 'secretKey',
    scope: 'contacts:read',
    params,
    answers: { 200: answer('What the contact receives.', contactTopicsSchema), 404: noContact },
    handle: async ({ db, project, params }) =>
      ok(presentContactTopics(await readContactTopics(db, project.projectId, params.id))),
  }),
  route({
    method: 'PATCH',
    path: '/contacts/:id/topics',
    summary: 'Change what a contact receives',
    access: 'secretKey',
    scope: 'contacts:write',
    params,
    body: request('ChangeContactTopicsRequest', 'The changes; fields that are left out stay as they are.', {
      topics: optional(topicChoices())
        .description('New states by key or ID of the topic.')
        .example({ 'product-news': 'SUBSCRIBED' }),
      snoozedUntil: optional(nullable(dateTime())).description(
        'Until when marketing email is skipped, at most 2 years ahead; null ends it.',
      ),
      frequency: optional(
        nullable(
          object({
            count: wholeNumber({ min: 1, max: 31 }).description('Most emails in the period.'),
            per: oneOf(...frequencyUnits).description('The period.'),
          }),
        ),
      ).description("The contact's own limit; null for none."),
      consent: optional(givenConsent()).description('Proof that the contact agreed.'),
      confirmation: optional(confirmationMode()).description(
        'SKIP asks for no confirmation of a topic with `doubleOptIn`; needs `consent` with `at` and `source`.',
      ),
    }),
    answers: {
      200: answer('What the contact receives.', contactTopicsSchema),
      404: missing('contact or topic', 'CONTACT_NOT_FOUND'),
    },
    handle: async ({ db, project, params, body: { snoozedUntil, ...body } }) => {
      const until = typeof snoozedUntil === 'string' ? new Date(snoozedUntil) : snoozedUntil;
      const change = { ...body, snoozedUntil: until };
      return ok(presentContactTopics(await changeContactTopics(db, project, params.id, change)));
    },
  }),
  route({
    method: 'GET',
    path: '/contacts/:id/consents',
    summary: 'List the consent records of a contact, newest first',
    access: 'secretKey',
    scope: 'contacts:read',
    params,
    query: cursorPage(),
    answers: { 200: answer('A page of consent records.', cursorListSchema(consentSchema)), 404: noContact },
    handle: async ({ db, project: { projectId }, settings, params, query }) => {
      const { id: contactId } = await findContact(db, projectId, params.id);
      return ok(
        presentCursorList(
          await listConsents(db, projectId, settings.secretKeys, { ...query, contactId }),
          presentConsent,
        ),
      );
    },
  }),
  route({
    method: 'GET',
    path: '/contacts/:id/proof',
    summary: 'Show the consents of a contact as a page to print',
    access: 'secretKey',
    scope: 'contacts:read',
    projectInQuery: true,
    params,
    answers: { 200: page('The page.'), 404: noContact },
    handle: async ({ db, project, params }) => presentProof(await readProof(db, project.projectId, params.id)),
  }),
  route({
    method: 'GET',
    path: '/consents',
    heavy: 'read',
    summary: 'List consent records, newest first, also of deleted contacts',
    access: 'secretKey',
    scope: 'contacts:read',
    query: {
      ...cursorPage(),
      email: optional(email()).description('Only records of this address, also where only its hash is stored.'),
      topicId: optional(uuid()).description('Only records of this topic.'),
      action: optional(oneOf(...consentActions)).description('Only records of this action.'),
      method: optional(oneOf(...consentMethods)).description('Only records of this method.'),
      since: optional(rangeMoment()).description('From this day or time on.'),
      until: optional(rangeMoment()).description('Up to this day or time.'),
    },
    answers: { 200: answer('A page of consent records.', cursorListSchema(consentSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(presentCursorList(await listConsents(db, project.projectId, settings.secretKeys, query), presentConsent)),
  }),
  route({
    method: 'GET',
    path: '/consents/export',
    role: 'MEMBER',
    summary: 'Export all consent records as CSV',
    access: 'secretKey',
    scope: 'contacts:read',
    projectInQuery: true,
    answers: { 200: { description: 'The file.', contentType: 'text/csv' } },
    handle: async ({ db, project }) => csvFile('consents.csv', await exportConsents(db, project)),
  }),
]);
