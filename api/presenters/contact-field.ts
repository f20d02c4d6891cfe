import joi from 'joi';
import type { FieldValues } from '../../services/contacts/field-values.ts';
import { type ContactField, fieldTypes } from '../../services/contacts/fields.ts';
import { flag, fraction, list, namedType, oneOf, text, wholeNumber } from '../http/schemas.ts';
import { usersSchema } from './usage.ts';

const count = () => wholeNumber({ min: 0 });

const fieldName = () => text().description('Field name; custom fields start with `data.`.').example('data.plan');

const fieldSchema = namedType('ContactField', 'A field of contacts.', {
  field: fieldName(),
  type: oneOf(...fieldTypes).description('Type of the values.'),
  isCustom: flag().description('Whether it is a custom field.'),
  coverage: fraction().description('Share of contacts that have the field, 0 to 1.'),
});

export const fieldsSchema = namedType('ContactFieldCatalog', 'The fields of contacts.', {
  fields: list(fieldSchema).description('Standard fields, then custom fields by name; at most 10,000 custom fields.'),
  count: count().description('Number of fields.'),
});

export const presentFields = (fields: ContactField[]) => ({ fields, count: fields.length });

export const fieldValuesSchema = namedType('ContactFieldValueSet', 'Distinct values of a field.', {
  field: fieldName(),
  values: list(joi.any()).description('Distinct values, sorted.').example(['free', 'pro']),
  count: count().description('Number of values returned.'),
  limit: wholeNumber({ min: 1 }).description('Maximum number of values returned.'),
});

export const presentFieldValues = ({ field, values, limit }: FieldValues) => ({
  field,
  values,
  count: values.length,
  limit,
});

export const fieldUsageSchema = namedType('ContactFieldUsage', 'Where a field is used.', {
  usedInSegments: usersSchema().description('Segments whose condition uses the field.'),
  usedInCampaigns: usersSchema().description('Campaigns that use the field.'),
  usedInWorkflows: usersSchema().description('Workflows that use the field.'),
  contactCount: count().description('Number of contacts that have the field.'),
  canDelete: flag().description('Whether it is a custom field that nothing uses.'),
});

export const fieldDeletedSchema = namedType('ContactFieldDeletion', 'The result of deleting a custom field.', {
  deletedFrom: count().description('Number of contacts that had the field.'),
});
