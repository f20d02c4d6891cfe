import type joi from 'joi';
import type { Fault } from './errors.ts';

/** More than this helps nobody, and an array of a million wrong items would be answered with a million lines. */
const MAX_FAULTS = 100;
const MAX_FIELD_LENGTH = 200;
const MAX_RECEIVED_LENGTH = 100;
/** What is never said back: answers end up in logs. */
const SECRET = /password|token|secret/i;

const codes: Record<string, Fault['code']> = {
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

const codesByRule: Record<string, Fault['code']> = {
  base: 'invalid_type',
  min: 'too_small',
  greater: 'too_small',
  positive: 'too_small',
  max: 'too_big',
  less: 'too_big',
  negative: 'too_big',
};

/** How a custom rule refuses a value with a code of the contract; `rule` is what the message says of the field. */
export const refuse = (helpers: joi.CustomHelpers, code: Fault['code'], rule: string): joi.ErrorReport =>
  helpers.error(`fault.${code}`, { rule });

function codeOf(type: string): Fault['code'] {
  const [kind = '', rule = ''] = type.split('.');
  if (kind === 'fault') return rule as Fault['code'];
  return codes[type] ?? codesByRule[rule] ?? (kind === 'string' ? 'invalid_string' : 'custom');
}

/** What joi found, in the words of the contract. */
export function faultsOf(error: joi.ValidationError): Fault[] {
  const faults = new Map<string, Fault>();
  for (const { type, path, message, context } of error.details.slice(0, MAX_FAULTS)) {
    const fault: Fault = { field: fieldOf(path), message, code: codeOf(type) };
    const received = context?.value;
    if (isShort(received) && !SECRET.test(fault.field)) fault.received = received;
    // Two rules may find the same, as both of an address do in one with a line break.
    faults.set(`${path.join('.')} ${message}`, fault);
  }
  return [...faults.values()];
}

export function fieldOf(path: readonly (string | number)[]): string {
  const field = path.join('.');
  return field.length > MAX_FIELD_LENGTH ? `${field.slice(0, MAX_FIELD_LENGTH)}...` : field;
}

function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= MAX_RECEIVED_LENGTH;
  return typeof value === 'number' || typeof value === 'boolean' || value === null;
}
