import { MAX_KEY_LENGTH } from '../../services/contacts/data.ts';
import { deleteField } from '../../services/contacts/field-delete.ts';
import { listFieldValues } from '../../services/contacts/field-values.ts';
import { listFields } from '../../services/contacts/fields.ts';
import { findFieldUsage } from '../../services/usage/field.ts';
import { answer, failure, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { limit, text } from '../http/schemas.ts';
import {
  fieldDeletedSchema,
  fieldsSchema,
  fieldUsageSchema,
  fieldValuesSchema,
  presentFields,
  presentFieldValues,
} from '../presenters/contact-field.ts';

const params = {
  field: text({ max: 'data.'.length + MAX_KEY_LENGTH })
    .description('Standard field, or custom field with or without `data.`.')
    .example('data.plan'),
};
const noField = missing('field');

export const contactFields = routes('Contacts', [
  route({
    method: 'GET',
    path: '/contacts/fields',
    summary: 'List contact fields with their types and coverage',
    access: 'secretKey',
    scope: 'contacts:read',
    answers: { 200: answer('The fields.', fieldsSchema) },
    handle: async ({ db, project }) => ok(presentFields(await listFields(db, project.projectId))),
  }),
  route({
    method: 'GET',
    path: '/contacts/fields/:field/values',
    heavy: 'read',
    summary: 'List distinct values of a field, from a sample of up to 50,000 contacts',
    access: 'secretKey',
    scope: 'contacts:read',
    params,
    query: { limit: limit({ fallback: 100, max: 200 }) },
    answers: { 200: answer('The values.', fieldValuesSchema), 404: noField },
    handle: async ({ db, project, params: { field }, query }) =>
      ok(presentFieldValues(await listFieldValues(db, project.projectId, field, query.limit))),
  }),
  route({
    method: 'GET',
    path: '/contacts/fields/:field/usage',
    heavy: 'read',
    summary: 'Get the segments, campaigns and workflows that use a field',
    access: 'secretKey',
    scope: 'contacts:read',
    params,
    answers: { 200: answer('The usage.', fieldUsageSchema), 404: noField },
    handle: async ({ db, project, params: { field } }) => ok(await findFieldUsage(db, project.projectId, field)),
  }),
  route({
    method: 'DELETE',
    path: '/contacts/fields/:field',
    summary: 'Delete a custom field from every contact',
    access: 'secretKey',
    scope: 'contacts:write',
    params,
    statementTimeoutMs: 60_000,
    answers: {
      200: answer('The custom field was deleted.', fieldDeletedSchema),
      400: failure('It is a standard field.', 'BAD_REQUEST'),
      404: noField,
    },
    handle: async ({ db, project, params: { field } }) => ok({ deletedFrom: await deleteField(db, project, field) }),
  }),
]);
