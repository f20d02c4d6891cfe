import joi from 'joi';
import { ApiError, badRequest, type Fault, validationError, violationCodes } from '../../platform/errors.ts';
import { isPublicApi } from '../middleware/cors.ts';
import { type DeclaredAnswers, notFoundOf } from './answers.ts';
import type { ReadBody } from './body.ts';
import { uncleanParts } from './clean.ts';
import type { Route } from './route.ts';
import type { Shape } from './typed.ts';
import { faultsOf } from './violations.ts';

/** Extra fields are dropped without a word: real clients send them. */
const lenient: joi.ValidationOptions = {
  abortEarly: false,
  allowUnknown: true,
  stripUnknown: { objects: true },
  messages: {
    // joi's own text repeats the value, however long it is.
    'string.pattern.base': '{{#label}} has the wrong form',
    'string.pattern.name': '{{#label}} must be {{#name}}',
    'any.unknown': '{{#label}} is not supported yet',
    ...Object.fromEntries(violationCodes.map((code) => [`fault.${code}`, '{{#label}} {{#rule}}'])),
  },
};

// Built into the schemas: joi would compile options that come with a call, for every call anew. For the same reason no
// part of a schema has `messages` of its own: joi would merge them for every value.

/** Texts of a path or a query become what the schema says; a body must already be it. */
const texts = { ...lenient, convert: true };
const json = { ...lenient, convert: false };

type Check<Input> = (input: Input) => unknown;

/** A path that does not fit names nothing that could exist. */
export function paramsCheck(shape: Shape | undefined, answers: DeclaredAnswers): Check<unknown> {
  if (!shape) return () => ({});
  const schema = joi.object(shape).prefs(texts);
  return (params) => {
    const { value, error } = schema.validate(params);
    if (error) throw notFoundOf(answers[404]);
    return value;
  };
}

/** `data.*` in a shape gathers every parameter that begins so: `data.plan=pro` comes as `{ plan: 'pro' }`. */
export function queryCheck(shape: Shape | undefined): Check<unknown> {
  if (!shape) return () => ({});
  const schema = joi.object(shape).prefs(texts);
  const prefixes = Object.keys(shape).flatMap((name) => (name.endsWith('.*') ? [name.slice(0, -1)] : []));
  return (query) => {
    const given: Record<string, unknown> = { ...(query as object) };
    for (const prefix of prefixes) given[`${prefix}*`] = beginningWith(prefix, given);
    const { value, error } = schema.validate(given);
    if (!error) return value;
    const errors = faultsOf(error);
    throw badRequest(`The query cannot be read: ${messagesOf(errors)}.`, { errors });
  };
}

function beginningWith(prefix: string, query: object): object {
  const found = Object.entries(query).filter(([name]) => name.startsWith(prefix));
  // joi would lose it without a word, and with it the filter.
  if (found.some(([name]) => name === `${prefix}__proto__`)) throw badRequest(`"${prefix}__proto__" cannot be used.`);
  return Object.fromEntries(found.map(([name, value]) => [name.slice(prefix.length), value]));
}

export function bodyCheck(body: Route['body']): Check<ReadBody> {
  if (!body) return () => undefined;
  const schema = (joi.isSchema(body) ? body : joi.object(body as joi.SchemaMap)).label('body').prefs(json);
  return ({ value: given, mayHoldBadText }) => {
    const unclean = typeof given === 'object' && given !== null ? uncleanParts(given, mayHoldBadText) : [];
    if (unclean.length > 0) throw validationError(unclean);
    const { value, error } = schema.validate(given);
    if (error) throw validationError(faultsOf(error));
    return value;
  };
}

/** For an answer that has room for one line only. */
export const messagesOf = (errors: Fault[]): string => errors.map(({ message }) => message).join('; ');

/** `{ error: "<text>" }`, as the contract has it in a few places. */
export class PlainError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'PlainError';
    this.status = status;
  }
}

/** Gives an error the form that the route declares for it. */
export function asDeclared(route: Route, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { errors } = error.extras;
  // There 409 means a repeated Idempotency-Key, whatever else a route outside answers with it.
  if (errors && error.code === 'CONFLICT' && isPublicApi(route.path)) return validationError(errors);
  const status = error.status === 422 ? (route.invalidBody ?? 422) : error.status;
  const message = errors ? messagesOf(errors) : error.message;
  if (route.answers[status]?.plain) return new PlainError(status, message);
  return status === error.status ? error : new ApiError(status, 'BAD_REQUEST', message, error.extras);
}
