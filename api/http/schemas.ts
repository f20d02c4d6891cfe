import joi from 'joi';
import { addressRule, SAFE_LINE_PATTERN, UNSAFE_IN_LINE } from '../../platform/address.ts';
import { named, nameOf } from './json-schema.ts';
import type { Shape, Typed, ValueOf } from './typed.ts';
import { documented, refuse } from './violations.ts';

// Schemas for requests and responses. All are required unless wrapped in `optional`.

export const optional = <T>(schema: Typed<T>): Typed<T | undefined> => schema.optional();

export const nullable = <T>(schema: Typed<T>): Typed<T | null> => schema.allow(null);

/** A string of at least one character, unless `min` says otherwise. */
export const text = ({ min = 1, max }: { min?: number; max?: number } = {}): Typed<string> =>
  (max === undefined ? joi.string().min(min) : joi.string().min(min).max(max)).required();

/** A single line, for header fields and display names. */
export const line = ({ min = 1, max }: { min?: number; max: number }): Typed<string> =>
  documented(
    joi
      .string()
      .min(min)
      .max(max)
      .custom((value: string, helpers) =>
        UNSAFE_IN_LINE.test(value)
          ? refuse(helpers, 'invalid_string', 'must be one line without control characters')
          : value,
      )
      .required(),
    { pattern: SAFE_LINE_PATTERN },
  );

export const uuid = (): Typed<string> => joi.string().guid({ separator: '-', wrapper: false }).required();

export const flag = (): Typed<boolean> => joi.boolean().required();

/** Trimmed and lower-cased; at most 254 characters, 64 of them before the @. */
export const email = (): Typed<string> => addressRule().required();

export const wholeNumber = ({ min, max }: { min?: number; max?: number } = {}): Typed<number> => {
  let schema = joi.number().integer();
  if (min !== undefined) schema = schema.min(min);
  if (max !== undefined) schema = schema.max(max);
  return schema.required();
};

/** A number of things a second. */
export const rate = (): Typed<number> => joi.number().min(0).required();
export const fraction = (): Typed<number> => joi.number().min(0).max(1).required();

export const oneOf = <const T extends string>(...values: T[]): Typed<T> =>
  joi
    .string()
    .valid(...values)
    .required();

/** Any other value counts as missing. */
export const choice = <const T extends string>(fallback: T, ...others: T[]): Typed<T> =>
  joi
    .string()
    .valid(fallback, ...others)
    .failover(fallback)
    .default(fallback);

/** The body of a request, which the document has under this name. */
export const request = <S extends Shape>(name: string, description: string, shape: S): Typed<ValueOf<S>> =>
  named(name, description, joi.object(shape));

/** A type that the document has under this name. */
export const namedType = <S extends Shape>(name: string, description: string, shape: S): Typed<ValueOf<S>> =>
  named(name, description, object(shape));

/** A page of a list, named after its items: lists with a cursor end with `List`, those with numbered pages with `Page`. */
export const listType = <S extends Shape>(
  item: Typed<unknown>,
  suffix: 'List' | 'Page',
  shape: S,
): Typed<ValueOf<S>> => {
  const name = nameOf(item);
  if (!name) throw new Error('The items of a list need a name: see namedType.');
  return namedType(`${name}${suffix}`, 'One page of a list.', shape);
};

/** Any JSON object. */
export const record = (): Typed<Record<string, unknown>> => joi.object().unknown().required();

export const object = <S extends Shape>(shape: S): Typed<ValueOf<S>> => joi.object(shape).required();

export const list = <T>(item: Typed<T>, { min, max }: { min?: number; max?: number } = {}): Typed<T[]> => {
  // joi reads a list of required items as one that must not be empty.
  let schema = joi.array().items(item.optional());
  if (min !== undefined) schema = schema.min(min);
  if (max !== undefined) schema = schema.max(max);
  return schema.required();
};

/** Validates values of `kind` with one schema and others with the other, so that errors refer to the intended one. */
const when = <A, B>(kind: joi.Schema, matching: Typed<A>, otherwise: Typed<B>): Typed<A | B> =>
  // biome-ignore lint/suspicious/noThenProperty: joi calls it so
  joi.alternatives().conditional(kind, { then: matching, otherwise }).required();

/** Strings first, where most callers send them: joi then needs a single test. */
export const textOr = <A, B>(text: Typed<A>, otherwise: Typed<B>) => when(joi.string().allow(''), text, otherwise);
export const objectOr = <A, B>(object: Typed<A>, otherwise: Typed<B>) => when(joi.object(), object, otherwise);
export const arrayOr = <A, B>(array: Typed<A>, otherwise: Typed<B>) => when(joi.array(), array, otherwise);

export const dateTime = (): Typed<string> => joi.string().isoDate().required();

/** Keeps the offset within a bigint. */
const LAST_PAGE = 1_000_000_000;

const clamped = (fallback: number, max: number): Typed<number> =>
  joi
    .number()
    .unsafe()
    .integer()
    .min(1)
    .custom((value: number) => Math.min(value, max))
    .default(fallback);

/** Query of an offset list: values below 1 or unreadable are rejected, values above the maximum clamped. */
export const offsetPage = ({ maxPageSize = 100 } = {}) => ({
  page: clamped(1, LAST_PAGE).description('Number of the page, from 1.'),
  pageSize: clamped(20, maxPageSize).description(`Most items on the page; at most ${maxPageSize}.`),
});

export const limit = ({ fallback = 20, max = 100 } = {}): Typed<number> =>
  clamped(fallback, max).description(`Most items on the page; at most ${max}.`);

/** The place where a page begins, as the page before returned it. */
export const cursor = ({ max = 1_000 } = {}) =>
  optional(documented(text({ max }), { pattern: '^[A-Za-z0-9_-]+$' })).description('`cursor` of the previous page.');

/** Query of a cursor list. */
export const cursorPage = () => ({ limit: limit(), cursor: cursor() });
