import joi from 'joi';
import { badRequest } from '../../platform/errors.ts';
import type { Data } from '../../services/contacts/data.ts';
import { exportContacts } from '../../services/contacts/export.ts';
import { findContact, lookUpContacts } from '../../services/contacts/find.ts';
import { listContacts } from '../../services/contacts/list.ts';
import { deleteContact } from '../../services/removal/contact.ts';
import { findTopicNamed } from '../../services/topics/find.ts';
import { topicStates } from '../../services/topics/save.ts';
import { saveContactWithTopics, updateContactWithTopics } from '../../services/topics/save-contact.ts';
import { answer, created, csvFile, failure, missing, noContent, ok, plainFailure } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import { route, routes } from '../http/route.ts';
import {
  choice,
  cursor,
  email,
  flag,
  limit,
  list,
  namedType,
  nullable,
  objectOr,
  oneOf,
  optional,
  request,
  text,
  uuid,
} from '../http/schemas.ts';
import { confirmationMode, givenConsent, topicChoices, topicKeyOrId } from '../http/topic-schemas.ts';
import type { Typed } from '../http/typed.ts';
import { contactSchema, presentContact, presentSavedContact, savedContactSchema } from '../presenters/contact.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';

const MAX_LOOKUP = 500;
const MAX_FILTER = 1_000;
const MAX_NAME = 100;

const noContact = missing('contact', 'CONTACT_NOT_FOUND');

const byData = (): Typed<Record<string, string> | undefined> =>
  joi.object().pattern(/^/, joi.string().min(0).max(MAX_FILTER)).optional();

function asData(given: unknown): Data {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw badRequest('"data" must be an object.');
  return given as Data;
}

export const contacts = routes('Contacts', [
  route({
    method: 'GET',
    path: '/contacts',
    heavy: 'read',
    summary: 'List contacts, filtered by part of the address, subscription and custom fields (`data.<key>=<value>`)',
    access: 'secretKey',
    scope: 'contacts:read',
    query: {
      limit: limit(),
      // A cursor by address contains the address.
      cursor: cursor({ max: 2_000 }),
      search: optional(text({ min: 0, max: MAX_FILTER })).description('Part of the email address.'),
      query: optional(text({ min: 0, max: MAX_NAME })).description(
        'Part of the email address, or of a custom field whose name contains `name`; case-insensitive.',
      ),
      importId: optional(uuid()).description('Only contacts of this import job, for 90 days after it.'),
      subscribed: optional(flag()).description('Only subscribed, or only unsubscribed contacts.'),
      sort: choice('createdAt', 'email').description('Sort field.'),
      dir: choice('desc', 'asc').description('Sort direction.'),
      topic: optional(topicKeyOrId()).description('Key or ID of a topic, for `topicState`.').example('product-news'),
      topicState: optional(oneOf(...topicStates)).description(
        'Only contacts for whom `topic` has this state; SUBSCRIBED by default.',
      ),
      'data.*': byData().description('Only contacts whose custom field has this value: `data.plan=pro`.'),
    },
    answers: { 200: answer('A page of contacts.', cursorListSchema(contactSchema)), 404: missing('topic') },
    handle: async ({ db, project, settings, query: { 'data.*': data, topic: name, topicState, ...query } }) => {
      const { projectId } = project;
      const topic = name === undefined ? undefined : await findTopicNamed(db, projectId, name);
      const filter = topic && { id: topic.id, state: topicState ?? ('SUBSCRIBED' as const) };
      const page = await listContacts(db, projectId, settings.secretKeys, { ...query, data, topic: filter });
      return ok(presentCursorList(page, presentContact));
    },
  }),
  route({
    method: 'POST',
    path: '/contacts',
    summary: 'Create a contact, or update the one with this address',
    access: 'secretKey',
    scope: 'contacts:write',
    body: request('CreateContactRequest', 'A contact to create, or to update if the address exists.', {
      email: email().description('Email address.'),
      subscribed: optional(flag()).description('Whether the contact receives marketing email; true by default.'),
      data: optional(nullable(contactData())).description('Custom fields to set.').example({ plan: 'pro' }),
      topics: optional(topicChoices())
        .description('New states by key or ID of the topic.')
        .example({ 'product-news': 'SUBSCRIBED' }),
      consent: optional(givenConsent()).description('Proof that the contact agreed.'),
      confirmation: optional(confirmationMode()).description(
        'SKIP asks for no confirmation of a topic with `doubleOptIn`; needs `consent` with `at` and `source`.',
      ),
    }),
    invalidBody: 400,
    answers: {
      200: answer('The existing contact was updated.', savedContactSchema),
      201: answer('The contact was created.', savedContactSchema),
      400: plainFailure('The address is missing, or something else about the body is wrong.'),
      404: missing('topic'),
      409: failure('The project has the maximum number of custom fields.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, body }) => {
      const saved = await saveContactWithTopics(db, project, body, settings.limits);
      return (saved.isNew ? created : ok)(presentSavedContact(saved));
    },
  }),
  route({
    method: 'GET',
    path: '/contacts/export',
    role: 'MEMBER',
    summary: 'Export all contacts as CSV, with a column per custom field',
    access: 'secretKey',
    scope: 'contacts:read',
    projectInQuery: true,
    answers: { 200: { description: 'The file.', contentType: 'text/csv' } },
    handle: async ({ db, project }) => csvFile('contacts.csv', await exportContacts(db, project)),
  }),
  route({
    method: 'POST',
    path: '/contacts/lookup',
    role: 'VIEWER',
    summary: 'Look up which addresses are contacts',
    access: 'secretKey',
    scope: 'contacts:read',
    whileDisabled: true,
    body: request('LookUpContactsRequest', 'Addresses to look up.', {
      emails: list(text({ min: 0, max: MAX_FILTER }), { min: 1, max: MAX_LOOKUP }).description('Email addresses.'),
    }),
    answers: {
      200: answer(
        'Each address as it was written, on one side or the other.',
        namedType('ContactLookup', 'Which addresses are contacts.', {
          found: list(text()).description('Addresses that are contacts.'),
          notFound: list(text({ min: 0 })).description('Addresses that are not.'),
        }),
      ),
    },
    handle: async ({ db, project, body }) => ok(await lookUpContacts(db, project.projectId, body.emails)),
  }),
  route({
    method: 'GET',
    path: '/contacts/:id',
    summary: 'Get a contact',
    access: 'secretKey',
    scope: 'contacts:read',
    params: { id: uuid().description('Contact ID.') },
    answers: { 200: answer('The contact.', contactSchema), 404: noContact },
    handle: async ({ db, project, params }) => ok(presentContact(await findContact(db, project.projectId, params.id))),
  }),
  route({
    method: 'PATCH',
    path: '/contacts/:id',
    summary: 'Update the address, subscription or single custom fields of a contact',
    access: 'secretKey',
    scope: 'contacts:write',
    params: { id: uuid().description('Contact ID.') },
    body: request('UpdateContactRequest', 'The changes; fields that are left out stay as they are.', {
      email: optional(email()).description('New email address.'),
      subscribed: optional(flag()).description('New subscription state.'),
      data: optional(objectOr(contactData(), joi.any()))
        .description('Custom fields to set; null removes a field, others stay.')
        .example({ plan: 'pro' }),
      topics: optional(topicChoices())
        .description('New states by key or ID of the topic.')
        .example({ 'product-news': 'SUBSCRIBED' }),
      consent: optional(givenConsent()).description('Proof that the contact agreed.'),
      confirmation: optional(confirmationMode()).description(
        'SKIP asks for no confirmation of a topic with `doubleOptIn`; needs `consent` with `at` and `source`.',
      ),
    }),
    answers: {
      200: answer('The updated contact.', contactSchema),
      400: { description: '`data` is not an object.', code: 'BAD_REQUEST' },
      404: noContact,
      409: plainFailure('Another contact of the project has this address, or there is no room for new custom fields.'),
    },
    handle: async ({ db, project, settings, params, body: { data, ...rest } }) => {
      const change = { ...rest, ...(data !== undefined && { data: asData(data) }) };
      return ok(presentContact(await updateContactWithTopics(db, project, params.id, change, settings.limits)));
    },
  }),
  route({
    method: 'DELETE',
    path: '/contacts/:id',
    summary: 'Delete a contact and erase its data',
    access: 'secretKey',
    scope: 'contacts:write',
    params: { id: uuid().description('Contact ID.') },
    answers: { 204: answer('Deleted.'), 404: noContact },
    handle: async ({ db, project, params }) => {
      await deleteContact(db, project, params.id);
      return noContent();
    },
  }),
]);
