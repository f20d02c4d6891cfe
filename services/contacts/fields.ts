import type { Db } from '../../db/connect.ts';
import { type FieldCount, type FieldType, readFields } from '../../db/models/contact-counts.ts';

export { fieldTypes } from '../../db/models/contact-counts.ts';

import type { Violation } from '../../platform/errors.ts';
import { aggregateContactBacklog, countContacts } from './counts.ts';
import { isReservedField } from './data.ts';

export interface ContactField {
  /** A standard field by its name, a custom one as `data.<key>`. */
  field: string;
  type: FieldType;
  isCustom: boolean;
  /** The share of contacts that have it. */
  coverage: number;
}

const standardTypes = { email: 'string', subscribed: 'boolean', createdAt: 'date', updatedAt: 'date' } as const;
export type StandardField = keyof typeof standardTypes;

/** Limits the list, because anyone with the public key can create fields. */
const MAX_FIELDS = 10_000;

/** A field as a path names it: a standard one, `data.<key>`, or the bare key. */
export type FieldName = { field: StandardField; key?: undefined } | { field: string; key: string };

export function readFieldName(name: string): FieldName {
  if (Object.hasOwn(standardTypes, name)) return { field: name as StandardField };
  const key = name.startsWith('data.') ? name.slice('data.'.length) : name;
  return { field: `data.${key}`, key };
}

/** Returns why a custom field of this name cannot be set. */
export function settableViolation(field: string): Violation | undefined {
  if (Object.hasOwn(standardTypes, field) || isReservedField(field))
    return { field: 'field', message: '"field" is the name of a standard or reserved field', code: 'custom' };
  return undefined;
}

/** Returns the keys in use, by name; at most the 10,000 most common ones. */
export async function listKeys(db: Db, projectId: string): Promise<FieldCount[]> {
  const { fields, pending } = await readFields(db, projectId, { limit: MAX_FIELDS });
  await aggregateContactBacklog(db, projectId, pending);
  return fields.sort((a, b) => (a.key < b.key ? -1 : 1));
}

export async function listFields(db: Db, projectId: string): Promise<ContactField[]> {
  const [total, keys] = await Promise.all([countContacts(db, projectId), listKeys(db, projectId)]);
  // At most 1: a contact may have been added between the two reads.
  const share = (contacts: number) => (total === 0 ? 0 : Math.min(1, contacts / total));
  const custom = keys.map(({ key, type, contacts }) => ({
    field: `data.${key}`,
    type,
    isCustom: true,
    coverage: share(contacts),
  }));
  const standard = Object.entries(standardTypes).map(([field, type]) => ({
    field,
    type,
    isCustom: false,
    coverage: share(total),
  }));
  return [...standard, ...custom];
}

/** Counts the contacts that have the field. */
export async function countField(db: Db, projectId: string, { key }: FieldName): Promise<number> {
  if (key === undefined) return countContacts(db, projectId);
  const { fields } = await readFields(db, projectId, { limit: 1, key });
  return fields[0]?.contacts ?? 0;
}
