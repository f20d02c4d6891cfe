import joi from 'joi';
import type { FieldValues } from '../../services/contacts/field-values.ts';
import { type ContactField, fieldTypes } from '../../services/contacts/fields.ts';
import { flag, list, object, oneOf, text, uuid, wholeNumber } from '../http/schemas.ts';

const count = () => wholeNumber({ min: 0 });

export const fieldsSchema = object({
  fields: list(
    object({
      field: text(),
      type: oneOf(...fieldTypes),
      isCustom: flag(),
      coverage: joi.number().min(0).max(1).required(),
    }),
  ),
  count: count(),
});

export const presentFields = (fields: ContactField[]) => ({ fields, count: fields.length });

export const fieldValuesSchema = object({
  field: text(),
  values: list(joi.any()),
  count: count(),
  limit: wholeNumber({ min: 1 }),
});

export const presentFieldValues = ({ field, values, limit }: FieldValues) => ({
  field,
  values,
  count: values.length,
  limit,
});

const users = () => list(object({ id: uuid(), name: text() }));

export const fieldUsageSchema = object({
  usedInSegments: users(),
  usedInCampaigns: users(),
  usedInWorkflows: users(),
  contactCount: count(),
  canDelete: flag(),
});

export const fieldDeletedSchema = object({ deletedFrom: count() });
