import { type TimeSpan, type TimeUnit, timeUnits } from '../instants.ts';
import { FilterViolation, type RawFilter } from './operator.ts';

export type Scalar = string | number | boolean;

const MAX_LIST = 1_000;
/** A hundred years: longer spans would leave the range of dates. */
const MAX_AMOUNT: Record<TimeUnit, number> = {
  minutes: 52_596_000,
  hours: 876_600,
  days: 36_525,
  weeks: 5_217,
  months: 1_200,
};
export const MAX_COUNT = 1_000_000;

const wrongType = (message: string) => new FilterViolation('value', message, 'invalid_type');

/** Postgres cannot store NUL or half a surrogate pair. */
const UNSTORABLE = /\0|\p{Surrogate}/u;

function storable(text: string): string {
  if (UNSTORABLE.test(text))
    throw new FilterViolation('value', 'contains a character that cannot be stored', 'invalid_string');
  return text;
}

export function readText({ value }: RawFilter): string {
  if (typeof value !== 'string') throw wrongType('must be text');
  return storable(value);
}

/** A non-empty text to search for. */
export function readPart(filter: RawFilter): string {
  const value = readText(filter);
  if (value === '') throw new FilterViolation('value', 'must not be empty', 'too_small');
  return value;
}

export function readBoolean({ value }: RawFilter): boolean {
  if (typeof value !== 'boolean') throw wrongType('must be true or false');
  return value;
}

export function readScalar({ value }: RawFilter): Scalar {
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'boolean' || isNumber(value)) return value;
  throw wrongType('must be text, a number, true or false');
}

/** The argument of greaterThan, lessThan and so on. */
export function readComparable({ value }: RawFilter): string | number {
  if (typeof value === 'string') return storable(value);
  if (isNumber(value)) return value;
  throw wrongType('must be a number, a date or text');
}

export const readListOf =
  <Item>(read: (filter: RawFilter) => Item) =>
  ({ value }: RawFilter): Item[] => {
    if (!Array.isArray(value)) throw wrongType('must be a list');
    if (value.length === 0) throw new FilterViolation('value', 'must have at least one item', 'too_small');
    if (value.length > MAX_LIST) throw new FilterViolation('value', `must have at most ${MAX_LIST} items`, 'too_big');
    return value.map((item) => read({ value: item }));
  };

/** Reads `value` and `unit` as a time span. */
export function readSpan({ value, unit }: RawFilter): TimeSpan {
  if (!isNumber(value)) throw wrongType('must be a number');
  if (value <= 0) throw new FilterViolation('value', 'must be greater than 0', 'too_small');
  if (unit === undefined || unit === null)
    throw new FilterViolation('unit', `is required: one of ${timeUnits.join(', ')}`, 'required');
  const known = timeUnits.find((name) => name === unit);
  if (!known) throw new FilterViolation('unit', `must be one of ${timeUnits.join(', ')}`, 'invalid_enum');
  if (value > MAX_AMOUNT[known])
    throw new FilterViolation('value', `must be at most ${MAX_AMOUNT[known]} ${known}`, 'too_big');
  if (known === 'months' && !Number.isInteger(value)) throw wrongType('must be a whole number of months');
  return { amount: value, unit: known };
}

/** The least number of events; 1 by default. */
export function readCount({ count: given }: RawFilter): number {
  if (given === undefined || given === null) return 1;
  if (!isNumber(given) || !Number.isInteger(given))
    throw new FilterViolation('count', 'must be a whole number', 'invalid_type');
  if (given < 1) throw new FilterViolation('count', 'must be at least 1', 'too_small');
  if (given > MAX_COUNT) throw new FilterViolation('count', `must be at most ${MAX_COUNT}`, 'too_big');
  return given;
}

/** For operators without argument; ignores any value. */
export const readNothing = (): undefined => undefined;

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
