import type { Violation } from '../errors.ts';

/** The arguments of a filter whose field and operator are valid, as received. */
export interface RawFilter {
  value?: unknown;
  unit?: unknown;
  count?: unknown;
  where?: unknown;
  last?: unknown;
  link?: unknown;
  variant?: unknown;
  machine?: unknown;
}

/** Thrown for an invalid filter, with the part that is invalid. */
export class FilterViolation extends Error {
  readonly part: 'field' | 'operator' | keyof RawFilter | `where.${string}`;
  readonly code: Violation['code'];

  constructor(part: FilterViolation['part'], message: string, code: Violation['code']) {
    super(message);
    this.name = 'FilterViolation';
    this.part = part;
    this.code = code;
  }
}

export type Scalar = string | number | boolean;

const MAX_LIST = 1_000;

export const wrongType = (message: string) => new FilterViolation('value', message, 'invalid_type');

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

// Addresses are stored in lower case, so a lower-case argument matches any case and can use indexes.
export const readAddress = (filter: RawFilter): string => readText(filter).trim().toLowerCase();
export const readAddressPart = (filter: RawFilter): string => readPart(filter).toLowerCase();

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

/** For operators without argument; ignores any value. */
export const readNothing = (): undefined => undefined;

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
