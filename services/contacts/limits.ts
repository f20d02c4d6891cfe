import type { Db } from '../../db/connect.ts';
import { eventNameFits, readFieldRoom } from '../../db/models/name-limits.ts';
import { ApiError, type Violation, validationError } from '../../platform/errors.ts';
import type { Limits } from '../../platform/limits.ts';
import type { KeyKind } from '../access/keys.ts';
import { type Data, type DataChange, readData } from './data.ts';

/** The public key has smaller limits than the project: it may create names only while the project has few. */
const limitText = (key: KeyKind, limit: number, names: string): string =>
  key === 'public'
    ? `the public key may create ${names} until the project has ${limit}`
    : `a project may have up to ${limit} ${names}`;

/** Reads a request's `data`, or rejects it because it has too many keys. */
export function readLimitedData(data: Data | null | undefined, limits: Limits): DataChange {
  const violation = dataKeysViolation(data, limits);
  if (violation) throw validationError([violation]);
  return readData(data);
}

export function dataKeysViolation(data: Data | null | undefined, { dataKeys }: Limits): Violation | undefined {
  if (!data || Object.keys(data).length <= dataKeys) return undefined;
  return { field: 'data', message: `"data" has more than ${dataKeys} keys`, code: 'too_big' };
}

/** 409. On /v1, where 409 means a repeated Idempotency-Key, `asDeclared` makes it a 422. */
const tooManyNames = (violation: Violation, suggestion: string) =>
  new ApiError(409, 'CONFLICT', `${violation.message}.`, { errors: [violation], suggestion });

export const newFieldsViolation = ({ customFields }: Limits, key: KeyKind = 'secret'): Violation => ({
  field: 'data',
  message: `"data" has new custom fields: ${limitText(key, customFields, 'custom fields')}`,
  code: 'too_big',
});

export const tooManyFields = (limits: Limits, key?: KeyKind): ApiError =>
  tooManyNames(
    newFieldsViolation(limits, key),
    'Delete fields that you no longer use with DELETE /contacts/fields/:field.',
  );

export const tooManyEventNames = ({ eventNames }: Limits, key: KeyKind = 'secret', field = 'event'): ApiError =>
  tooManyNames(
    { field, message: `"${field}" is a new name: ${limitText(key, eventNames, 'event names')}`, code: 'too_big' },
    'Delete events that you no longer use with DELETE /events/:eventName, and put what varies into "data".',
  );

/** A separate statement, for writes outside the hot path. */
export async function requireRoomForFields(db: Db, projectId: string, patch: Data, limits: Limits): Promise<void> {
  if (!(await roomFor(db, projectId, patch, limits))) throw tooManyFields(limits);
}

export async function roomFor(db: Db, projectId: string, patch: Data, { customFields }: Limits): Promise<boolean> {
  const keys = Object.keys(patch);
  if (keys.length === 0) return true;
  const { fields, unknown } = await readFieldRoom(db, projectId, keys);
  return unknown.length === 0 || fields + unknown.length <= customFields;
}

export async function requireRoomForEvent(db: Db, projectId: string, name: string, limits: Limits): Promise<void> {
  if (!(await eventNameFits(db, projectId, name, limits.eventNames))) throw tooManyEventNames(limits, 'secret', 'name');
}
