import type { FieldValue, FormField } from '../../db/models/form.ts';

export const DEFAULT_MAX_LENGTH = 500;

const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;
const TRUE = ['true', 'on', 'yes', '1'];
const FALSE = ['false', 'off', 'no', '0'];

type Rules = Pick<FormField, 'type' | 'options' | 'maxLength'>;

/** Reads what was given for a field: a value of its type, or the rule that it breaks. */
export function readFieldValue(
  { type, options, maxLength }: Rules,
  given: unknown,
): { value: FieldValue } | { rule: string } {
  switch (type) {
    case 'NUMBER': {
      const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
      return typeof number === 'number' && Number.isFinite(number) ? { value: number } : { rule: 'must be a number' };
    }
    case 'BOOLEAN': {
      if (typeof given === 'boolean') return { value: given };
      const word = String(given).toLowerCase();
      if (TRUE.includes(word)) return { value: true };
      return FALSE.includes(word) ? { value: false } : { rule: 'must be true or false' };
    }
    default:
      break;
  }
  if (typeof given !== 'string' && typeof given !== 'number') return { rule: 'must be a text' };
  const text = String(given);
  if (text.length > maxLength) return { rule: `must have at most ${maxLength} characters` };
  if (type === 'SELECT' && !options.includes(text)) return { rule: 'must be one of its options' };
  if (type === 'DATE' && !isDate(text)) return { rule: 'must be a date such as 2026-01-31' };
  return { value: text };
}

function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const time = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  // A date that does not exist, such as 30 February, would become another day.
  return !Number.isNaN(Date.parse(text)) && time.toISOString().slice(0, 10) === text.slice(0, 10);
}
