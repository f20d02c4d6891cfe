import { findPageSettings, updatePageSettings } from '../../services/pages/settings.ts';
import { answer, failure, missing, ok } from '../http/answers.ts';
import { pageSettingsSchema, updatePageSettingsRequest } from '../http/page-schemas.ts';
import { route, routes } from '../http/route.ts';
import { uuid } from '../http/schemas.ts';

const params = { id: uuid().description('Project ID.') };
const unverified = failure('The domain of the sender is not verified.', 'INTERNAL_SERVER_ERROR');
const theSettings = answer('The settings of the pages.', pageSettingsSchema);

export const pageSettings = routes('Projects', [
  route({
    method: 'GET',
    path: '/projects/:id/pages',
    summary: 'Get the settings of the hosted pages',
    access: 'member',
    params,
    answers: { 200: theSettings, 404: missing('project') },
    handle: async ({ db, params, settings }) => ok(await findPageSettings(db, params.id, settings)),
  }),
  route({
    method: 'PATCH',
    path: '/projects/:id/pages',
    summary: 'Update the settings of the hosted pages',
    access: 'member',
    role: 'ADMIN',
    params,
    body: updatePageSettingsRequest,
    answers: {
      200: theSettings,
      403: unverified,
      404: missing('project'),
      409: failure('Confirmations of a topic or an active form have no other sender.', 'CONFLICT'),
    },
    handle: async ({ db, project, body, settings }) => ok(await updatePageSettings(db, project, body, settings)),
  }),
]);
