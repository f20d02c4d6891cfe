import { findForm, listForms } from '../../services/forms/find.ts';
import { createForm, deleteForm, duplicateForm, updateForm } from '../../services/forms/save.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { createFormRequest, formSchema, updateFormRequest } from '../http/form-schemas.ts';
import { route, routes } from '../http/route.ts';
import { list, uuid } from '../http/schemas.ts';
import { presentForm } from '../presenters/form.ts';

const params = { id: uuid().description('Form ID.') };
const one = answer('The form.', formSchema);
const noForm = missing('form');
const noSender = failure('Confirmation emails have no sender.', 'BAD_REQUEST');
const unverified = failure('The domain of the sender is not verified.', 'INTERNAL_SERVER_ERROR');
const tooMany = 'The project has the maximum number of forms.';

export const forms = routes('Forms', [
  route({
    method: 'GET',
    path: '/forms',
    summary: 'List the forms',
    access: 'secretKey',
    scope: 'forms:read',
    answers: { 200: answer('The forms.', list(formSchema)) },
    handle: async ({ db, project, settings }) =>
      ok((await listForms(db, project.projectId)).map((form) => presentForm(form, settings))),
  }),
  route({
    method: 'POST',
    path: '/forms',
    summary: 'Create a form',
    access: 'secretKey',
    scope: 'forms:write',
    body: createFormRequest,
    answers: {
      201: one,
      400: noSender,
      403: unverified,
      404: missing('topic'),
      409: failure(`The key is taken. ${tooMany}`, 'CONFLICT'),
    },
    handle: async ({ db, project, settings, body }) =>
      created(presentForm(await createForm(db, project, body, settings), settings)),
  }),
  route({
    method: 'GET',
    path: '/forms/:id',
    summary: 'Get a form',
    access: 'secretKey',
    scope: 'forms:read',
    params,
    answers: { 200: one, 404: noForm },
    handle: async ({ db, project, params, settings }) =>
      ok(presentForm(await findForm(db, project.projectId, params.id), settings)),
  }),
  route({
    method: 'PATCH',
    path: '/forms/:id',
    summary: 'Update a form; changed fields or texts make a new version',
    access: 'secretKey',
    scope: 'forms:write',
    params,
    body: updateFormRequest,
    answers: { 200: one, 400: noSender, 403: unverified, 404: noForm },
    handle: async ({ db, project, params, settings, body }) =>
      ok(presentForm(await updateForm(db, project, params.id, body, settings), settings)),
  }),
  route({
    method: 'DELETE',
    path: '/forms/:id',
    summary: 'Delete a form; links in confirmations that were sent keep working',
    access: 'secretKey',
    scope: 'forms:write',
    params,
    answers: { 204: answer('Deleted.'), 404: noForm },
    handle: async ({ db, project, params }) => {
      await deleteForm(db, project, params.id);
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/forms/:id/duplicate',
    summary: 'Copy a form; the copy is PAUSED',
    access: 'secretKey',
    scope: 'forms:write',
    params,
    answers: { 201: one, 404: noForm, 409: failure(tooMany, 'CONFLICT') },
    handle: async ({ db, project, params, settings }) =>
      created(presentForm(await duplicateForm(db, project, params.id, settings.limits), settings)),
  }),
]);
