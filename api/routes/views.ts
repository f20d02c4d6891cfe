import joi from 'joi';
import { createView, deleteView, listViews, updateView, viewPages, viewScopes } from '../../services/views/views.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { list, oneOf, optional, request, text, uuid } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { refuse } from '../http/violations.ts';
import { presentView, viewSchema } from '../presenters/view.ts';

const MAX_FILTER_BYTES = 16 * 1024;
const MAX_COLUMNS = 100;

const params = { id: uuid().description('View ID.') };
const one = answer('The view.', viewSchema);
const noView = missing('view');

const name = () => text({ max: 255 }).description('Name of the view.');
const columns = () =>
  list(text({ max: 300 }), { max: MAX_COLUMNS }).description('Columns in their order; empty for the default ones.');
const filters = (): Typed<Record<string, unknown>> =>
  joi
    .object()
    .unknown()
    .custom((value: Record<string, unknown>, helpers) =>
      Buffer.byteLength(JSON.stringify(value)) > MAX_FILTER_BYTES
        ? refuse(helpers, 'too_big', `must not be larger than ${MAX_FILTER_BYTES / 1024} KB`)
        : value,
    )
    .required()
    .description('Filters, as the web application uses them; at most 16 KB.');

export const views = routes('Views', [
  route({
    method: 'GET',
    path: '/views',
    summary: 'List the saved views of all lists by name, at most 100',
    access: 'secretKey',
    scope: viewScopes('read'),
    answers: { 200: answer('The views of the lists that the caller may read.', list(viewSchema)) },
    handle: async ({ db, project }) => ok((await listViews(db, project)).map(presentView)),
  }),
  route({
    method: 'POST',
    path: '/views',
    summary: 'Save a view of a list',
    access: 'secretKey',
    scope: viewScopes('write'),
    body: request('CreateViewRequest', 'A view to save.', {
      name: name(),
      page: oneOf(...viewPages).description('The list that the view is of.'),
      filters: filters(),
      columns: columns(),
    }),
    answers: { 201: one, 409: failure('The project has the maximum number of views.', 'CONFLICT') },
    handle: async ({ db, project, body }) => created(presentView(await createView(db, project, body))),
  }),
  route({
    method: 'PATCH',
    path: '/views/:id',
    summary: 'Update a saved view',
    access: 'secretKey',
    scope: viewScopes('write'),
    params,
    body: request('UpdateViewRequest', 'The changes; fields that are left out stay as they are.', {
      name: optional(name()),
      filters: optional(filters()),
      columns: optional(columns()),
    }),
    answers: { 200: one, 404: noView },
    handle: async ({ db, project, params, body }) => ok(presentView(await updateView(db, project, params.id, body))),
  }),
  route({
    method: 'DELETE',
    path: '/views/:id',
    summary: 'Delete a saved view',
    access: 'secretKey',
    scope: viewScopes('write'),
    params,
    answers: { 204: answer('Deleted.'), 404: noView },
    handle: async ({ db, project, params }) => {
      await deleteView(db, project, params.id);
      return noContent();
    },
  }),
]);
