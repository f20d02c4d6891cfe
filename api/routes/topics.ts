import joi from 'joi';
import { deleteTopic } from '../../services/topics/delete.ts';
import { findTopic } from '../../services/topics/find.ts';
import { listTopics, viewTopic } from '../../services/topics/list.ts';
import {
  createTopic,
  reorderTopics,
  topicDefaults,
  topicKinds,
  topicVisibilities,
  updateTopic,
} from '../../services/topics/save.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { email, flag, line, list, nullable, object, oneOf, optional, request, text, uuid } from '../http/schemas.ts';
import { hours, topicTranslations } from '../http/topic-schemas.ts';
import type { Typed } from '../http/typed.ts';
import { presentTopic, topicSchema } from '../presenters/topic.ts';

const params = { id: uuid().description('Topic ID.') };
const one = answer('The topic.', topicSchema);
const noTopic = missing('topic');
const noSender = failure('Confirmation emails have no sender.', 'BAD_REQUEST');
const unverified = failure('The domain of the sender is not verified.', 'INTERNAL_SERVER_ERROR');

const MAX_REORDERED = 10_000;

const key = (): Typed<string> =>
  joi
    .string()
    .pattern(/^[a-z0-9-]{1,50}$/)
    .required();

const settings = {
  description: optional(text({ min: 0, max: 500 })).description('What the topic is about.'),
  defaultState: optional(oneOf(...topicDefaults)).description(
    'State of contacts without a choice. The first one applies to all contacts, a later one to contacts created after it.',
  ),
  visibility: optional(oneOf(...topicVisibilities)).description(
    'PUBLIC topics are shown to every contact, PRIVATE ones to those who have chosen or receive them.',
  ),
  doubleOptIn: optional(flag()).description('Whether SUBSCRIBED needs a confirmation by email.'),
  confirmation: optional(
    nullable(
      object({
        templateId: optional(nullable(uuid())).description('A TRANSACTIONAL template with {{confirmUrl}}.'),
        from: optional(nullable(email())).description('Sender address, on a verified domain.'),
        fromName: optional(nullable(line({ max: 255 }))).description('Sender name.'),
        reminderAfterHours: optional(nullable(hours())).description(
          'Hours until the reminder, 48 by default; null for none.',
        ),
        expiresAfterHours: optional(hours()).description('Hours until the confirmation expires, 168 by default.'),
      }),
    ),
  ).description('How the choice is confirmed.'),
  consentText: optional(text({ min: 0, max: 5_000 })).description('Wording that is shown with the choice.'),
  translations: optional(topicTranslations())
    .description('Texts by BCP 47 tag.')
    .example({ de: { name: 'Neues' } }),
};

export const topics = routes('Topics', [
  route({
    method: 'GET',
    path: '/topics',
    summary: 'List the topics by position',
    access: 'secretKey',
    scope: 'topics:read',
    query: { archived: optional(flag()).description('Only archived topics; otherwise only those in use.') },
    answers: { 200: answer('The topics.', list(topicSchema)) },
    handle: async ({ db, project, query }) =>
      ok((await listTopics(db, project.projectId, query.archived ?? false)).map(presentTopic)),
  }),
  route({
    method: 'POST',
    path: '/topics',
    summary: 'Create a topic',
    access: 'secretKey',
    scope: 'topics:write',
    body: request('CreateTopicRequest', 'A topic to create.', {
      name: text({ max: 100 }).description('Name of the topic.').example('Product news'),
      key: optional(key()).description('Key; made of the name by default.').example('product-news'),
      kind: optional(oneOf(...topicKinds)).description(
        'MARKETING, the default, goes with MARKETING and HEADLESS email, NOTIFICATION with TRANSACTIONAL email.',
      ),
      ...settings,
    }),
    answers: {
      201: one,
      400: noSender,
      403: unverified,
      409: failure('The key is taken, or the project has the maximum number of topics.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, body }) =>
      created(presentTopic(await createTopic(db, project, body, settings))),
  }),
  route({
    method: 'POST',
    path: '/topics/reorder',
    summary: 'Order the topics',
    access: 'secretKey',
    scope: 'topics:write',
    body: request('ReorderTopicsRequest', 'The new order.', {
      ids: list(uuid(), { max: MAX_REORDERED }).description('All topics that are not archived, each once.'),
    }),
    answers: { 200: answer('The topics.', list(topicSchema)) },
    handle: async ({ db, project, body }) => ok((await reorderTopics(db, project, body.ids)).map(presentTopic)),
  }),
  route({
    method: 'GET',
    path: '/topics/:id',
    summary: 'Get a topic',
    access: 'secretKey',
    scope: 'topics:read',
    params,
    answers: { 200: one, 404: noTopic },
    handle: async ({ db, project, params }) =>
      ok(presentTopic(await viewTopic(db, await findTopic(db, project.projectId, params.id)))),
  }),
  route({
    method: 'PATCH',
    path: '/topics/:id',
    summary: 'Update a topic',
    access: 'secretKey',
    scope: 'topics:write',
    params,
    body: request('UpdateTopicRequest', 'The changes; fields that are left out stay as they are.', {
      name: optional(text({ max: 100 })).description('Name of the topic.'),
      ...settings,
      archived: optional(flag()).description('Hides the topic and refuses new use.'),
    }),
    answers: {
      200: one,
      400: noSender,
      403: unverified,
      404: noTopic,
      409: failure('A campaign of the topic is SCHEDULED or SENDING.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, params, body }) =>
      ok(presentTopic(await updateTopic(db, project, params.id, body, settings))),
  }),
  route({
    method: 'DELETE',
    path: '/topics/:id',
    summary: 'Delete a topic with its choices; consent records stay',
    access: 'secretKey',
    scope: 'topics:write',
    params,
    answers: {
      204: answer('Deleted.'),
      404: noTopic,
      409: failure('A template, a form, an unfinished campaign or a workflow uses the topic.', 'CONFLICT'),
    },
    handle: async ({ db, project, params }) => {
      await deleteTopic(db, project, params.id);
      return noContent();
    },
  }),
]);
