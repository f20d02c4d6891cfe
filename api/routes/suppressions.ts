import { listSuppressions } from '../../services/suppressions/list.ts';
import { removeSuppression } from '../../services/suppressions/remove.ts';
import { answer, missing, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, email } from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { presentSuppression, suppressionSchema } from '../presenters/suppression.ts';

export const suppressions = routes('Suppressions', [
  route({
    method: 'GET',
    path: '/suppressions',
    summary: 'List suppressed addresses (hard bounces, complaints), newest first',
    access: 'secretKey',
    scope: 'send:read',
    query: cursorPage(),
    answers: { 200: answer('A page of the list.', cursorListSchema(suppressionSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(
        presentCursorList(
          await listSuppressions(db, project.projectId, settings.secretKeys, query),
          presentSuppression,
        ),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/suppressions/:email',
    summary: 'Remove a suppression, so that mail is sent to the address again',
    access: 'secretKey',
    scope: 'send:write',
    params: { email: email() },
    answers: { 204: answer('Removed.'), 404: missing('suppressed address') },
    handle: async ({ db, project, params }) => {
      await removeSuppression(db, project, params.email);
      return noContent();
    },
  }),
]);
