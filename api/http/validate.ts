import joi from 'joi';
import { ApiError, badRequest, type Violation, validationError, violationCodes } from '../../platform/errors.ts';
import { isPublicApi } from '../middleware/cors.ts';
import { type DeclaredAnswers, notFoundOf } from './answers.ts';
import type { ReadBody } from './body.ts';
import { findRefusedParts } from './clean.ts';
import type { Route } from './route.ts';
import type { Shape } from './typed.ts';
import { faultsOf } from './violations.ts';

/** Drops unknown fields silently: real clients send them. */
const lenient: joi.ValidationOptions = {
  abortEarly: false,
  allowUnknown: true,
  stripUnknown: { objects: true },
  messages: {
    // joi's text repeats the value, however long.
    'string.pattern.base': '{{#label}} has an invalid format',
    'string.pattern.name': '{{#label}} must be {{#name}}',
    'any.unknown': '{{#label}} is not supported yet',
    ...Object.fromEntries(violationCodes.map((code) => [`fault.${code}`, '{{#label}} {{#rule}}'])),
  },
};

// Set on the schemas: joi compiles options passed with a call every time. For the same reason no part of a schema has
// its own `messages`: joi merges them for every value.

/** Strings of a path or query are converted to the schema's type; a body must have it already. */
const fromText = { ...lenient, convert: true };
const fromJson = { ...lenient, convert: false };

type Check<Input> = (input: Input) => unknown;

/** A path that does not match its schema gets the route's 404. */
export function paramsCheck(shape: Shape | undefined, answers: DeclaredAnswers): Check<unknown> {
  if (!shape) return () => ({});
  const schema = joi.object(shape).prefs(fromText);
  return (params) => {
    const { value, error } = schema.validate(params);
    if (error) throw notFoundOf(answers[404], error.details[0]?.path[0]);
    return value;
  };
}

/** `data.*` in a shape collects all parameters with that prefix: `data.plan=pro` becomes `{ plan: 'pro' }`. */
export function queryCheck(shape: Shape | undefined): Check<unknown> {
  if (!shape) return () => ({});
  const schema = joi.object(shape).prefs(fromText);
  const prefixes = Object.keys(shape).flatMap((name) => (name.endsWith('.*') ? [name.slice(0, -1)] : []));
  return (query) => {
    const given: Record<string, unknown> = { ...(query as object) };
    for (const prefix of prefixes) given[`${prefix}*`] = withPrefix(prefix, given);
    const { value, error } = schema.validate(given);
    if (!error) return value;
    const errors = faultsOf(error);
    throw badRequest(`The query is invalid: ${messagesOf(errors)}.`, { errors });
  };
}

function withPrefix(prefix: string, query: object): object {
  const found = Object.entries(query).filter(([name]) => name.startsWith(prefix));
  // joi would drop it silently, and with it the filter.
  if (found.some(([name]) => name === `${prefix}__proto__`)) throw badRequest(`"${prefix}__proto__" is not allowed.`);
  return Object.fromEntries(found.map(([name, value]) => [name.slice(prefix.length), value]));
}

export function bodyCheck(body: Route['body']): Check<ReadBody> {
  if (!body) return () => undefined;
  const schema = (joi.isSchema(body) ? body : joi.object(body as joi.SchemaMap)).label('body').prefs(fromJson);
  return ({ value: given, mayContainBadText }) => {
    const unclean = typeof given === 'object' && given !== null ? findRefusedParts(given, mayContainBadText) : [];
    if (unclean.length > 0) throw validationError(unclean);
    const { value, error } = schema.validate(given);
    if (error) throw validationError(faultsOf(error));
    return value;
  };
}

/** Joins validation errors for responses with a single message. */
export const messagesOf = (errors: Violation[]): string => errors.map(({ message }) => message).join('; ');

/** Sent as `{ error: "<text>" }`, which the contract requires in a few places. */
export class PlainError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'PlainError';
    this.status = status;
  }
}

/** Converts an error to the form that the route declares. */
export function asDeclared(route: Route, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { errors } = error.extras;
  // Under /v1 a 409 always means a repeated Idempotency-Key.
  if (errors && error.code === 'CONFLICT' && isPublicApi(route.path)) return validationError(errors);
  const status = error.status === 422 ? (route.invalidBody ?? 422) : error.status;
  const message = errors ? messagesOf(errors) : error.message;
  if (route.answers[status]?.plain) return new PlainError(status, message);
  return status === error.status ? error : new ApiError(status, 'BAD_REQUEST', message, error.extras);
}
