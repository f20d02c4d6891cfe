import { type ListedRequest, listRequests } from '../../services/request-log/requests.ts';
import { answer, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import {
  cursorPage,
  dateTime,
  flag,
  list,
  namedType,
  nullable,
  object,
  optional,
  text,
  wholeNumber,
} from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';

const requestSchema = namedType('FailedRequest', 'A request that failed with status 400 or above, or that succeeded.', {
  at: dateTime().description('When the request was answered.'),
  requestId: text().description('Request ID.'),
  method: text().description('HTTP method.'),
  route: text().description('Path of the route.'),
  status: wholeNumber().description('HTTP status.').example(422),
  code: nullable(text()).description('Error code; null if the response had none.').example('VALIDATION_ERROR'),
  message: text({ min: 0 }).description(
    'Error message, at most 500 characters, with email addresses removed; empty if the request succeeded.',
  ),
  errors: list(
    object({
      field: text({ min: 0 }).description('Path of the field.').example('data.plan'),
      code: text().description('Code of the rule.').example('too_big'),
      message: text().description('What is wrong, without the value.'),
    }),
  ).description('What each field has wrong; empty unless the request broke rules.'),
  key: nullable(text())
    .description('Name of the scoped key, `secret key` or `public key`; null for sessions.')
    .example('secret key'),
  user: nullable(text())
    .description('Email address of the user; null for keys and deleted users.')
    .example('ann@example.com'),
});

const presentRequest = ({ id: _, at, keyName: key, ...request }: ListedRequest) => ({
  at: at.toISOString(),
  ...request,
  key,
});

export const requests = routes('Requests', [
  route({
    method: 'GET',
    path: '/requests',
    summary: 'List failed or successful requests of the last 7 days, at most 1,000, newest first',
    access: 'projectSession',
    role: 'ADMIN',
    query: {
      ...cursorPage(),
      status: optional(wholeNumber({ min: 400, max: 599 }))
        .description('Only this HTTP status.')
        .example(422),
      route: optional(text({ max: 500 }))
        .description('Only this route, with or without the method.')
        .example('GET /contacts/:id'),
      successful: optional(flag()).description(
        'With `true`, requests of keys that succeeded, instead of those that failed. They are recorded while `logRequests` of the project is true.',
      ),
    },
    answers: { 200: answer('A page of requests.', cursorListSchema(requestSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(presentCursorList(await listRequests(db, project.projectId, settings.secretKeys, query), presentRequest)),
  }),
]);
