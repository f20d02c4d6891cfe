import type joi from 'joi';
import type { Violation } from './errors.ts';

/** Bounds the response to a request with, for example, a million invalid array items. */
const MAX_VIOLATIONS = 100;
const MAX_FIELD_LENGTH = 200;
const MAX_RECEIVED_LENGTH = 100;
/** Values of these fields are never returned, because responses end up in logs. */
const SECRET = /password|token|secret|^code$/i;

const codes: Record<string, Violation['code']> = {
  'any.required': 'required',
  'any.only': 'invalid_enum',
  'alternatives.types': 'invalid_type',
  'alternatives.match': 'invalid_type',
  'alternatives.any': 'invalid_type',
  'number.integer': 'invalid_type',
  'number.infinity': 'invalid_type',
  'number.unsafe': 'too_big',
  'string.empty': 'too_small',
};

const codesByRule: Record<string, Violation['code']> = {
  base: 'invalid_type',
  min: 'too_small',
  greater: 'too_small',
  positive: 'too_small',
  max: 'too_big',
  less: 'too_big',
  negative: 'too_big',
};

/** Lets a custom joi rule refuse a value with an error code of the API. `rule` completes the message ("must …"). */
export const refuse = (helpers: joi.CustomHelpers, code: Violation['code'], rule: string): joi.ErrorReport =>
  helpers.error(`fault.${code}`, { rule });

/** The key of joi's `meta` under which a schema says what its custom rules require. */
export const DOCUMENTED = 'jsonSchema';

/** Puts what a custom rule requires into the OpenAPI document, as keywords of JSON Schema. */
export const documented = <S extends joi.Schema>(schema: S, rule: Record<string, unknown>): S =>
  schema.meta({ [DOCUMENTED]: rule }) as S;

function codeOf(type: string): Violation['code'] {
  const [kind = '', rule = ''] = type.split('.');
  if (kind === 'fault') return rule as Violation['code'];
  return codes[type] ?? codesByRule[rule] ?? (kind === 'string' ? 'invalid_string' : 'custom');
}

/** Converts errors of joi to the violations of the API. */
export function faultsOf(error: joi.ValidationError): Violation[] {
  const violations = new Map<string, Violation>();
  for (const { type, path, message, context } of error.details.slice(0, MAX_VIOLATIONS)) {
    const violation: Violation = { field: fieldPath(path), message, code: codeOf(type) };
    const received = context?.value;
    if (isShort(received) && !SECRET.test(violation.field)) violation.received = received;
    // Removes duplicates: both rules of an address reject a line break.
    violations.set(`${path.join('.')} ${message}`, violation);
  }
  return [...violations.values()];
}

export function fieldPath(path: readonly (string | number)[]): string {
  const field = path.join('.');
  return field.length > MAX_FIELD_LENGTH ? `${field.slice(0, MAX_FIELD_LENGTH)}...` : field;
}

function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= MAX_RECEIVED_LENGTH;
  return typeof value === 'number' || typeof value === 'boolean' || value === null;
}
