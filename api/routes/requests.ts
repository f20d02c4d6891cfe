import { type ListedRequest, listFailedRequests } from '../../services/request-log/failed-requests.ts';
import { answer, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, dateTime, nullable, object, optional, text, wholeNumber } from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';

const requestSchema = object({
  at: dateTime(),
  requestId: text(),
  method: text(),
  route: text(),
  status: wholeNumber(),
  code: nullable(text()),
  message: text({ min: 0 }),
  /** The name of the key, or else the address of the user. */
  key: nullable(text()),
  user: nullable(text()),
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
    summary: 'List the last 1,000 requests that were answered with 400 or above, of the last 7 days, newest first',
    access: 'projectSession',
    role: 'ADMIN',
    query: {
      ...cursorPage(),
      status: optional(wholeNumber({ min: 400, max: 599 })),
      route: optional(text({ max: 500 })),
    },
    answers: { 200: answer('A page of requests.', cursorListSchema(requestSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(
        presentCursorList(await listFailedRequests(db, project.projectId, settings.secretKeys, query), presentRequest),
      ),
  }),
]);
