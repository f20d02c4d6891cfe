/**
 * Fields in which errors carry values of rows or requests, which are customers' data: pg has detail, where and
 * internalQuery, knex sql and bindings, Objection data, joi details and _original.
 */
const DROPPED = new Set([
  ...['detail', 'details', 'where', 'internalQuery', 'query', 'sql', 'bindings', 'parameters', 'values', 'data'],
  '_original',
]);

const MAX_DEPTH = 5;
/** SQLSTATE class 22: the message ends with the value that could not be read. */
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/;

/** Replaces pino's own: drops fields that carry values, in causes and native errors too. */
export function serializeError(error: unknown, depth = 0): unknown {
  if (!isError(error)) return error;
  const fields: Record<string, unknown> = { type: error.constructor?.name ?? error.name, ...textOf(error) };
  if (depth >= MAX_DEPTH) return fields;
  for (const [name, value] of Object.entries({ ...error, cause: error.cause }))
    if (!DROPPED.has(name) && !(name in fields) && value !== undefined) fields[name] = fieldOf(value, depth);
  if (error instanceof AggregateError) fields.errors = fieldOf(error.errors, depth);
  return fields;
}

const isError = (value: unknown): value is Error =>
  value instanceof Error ||
  (typeof value === 'object' && value !== null && typeof (value as { message?: unknown }).message === 'string');

function fieldOf(value: unknown, depth: number): unknown {
  if (Array.isArray(value)) return value.map((item) => serializeError(item, depth + 1));
  return serializeError(value, depth + 1);
}

function textOf(error: Error): { message: string; stack: string | undefined } {
  if (!isDataException(error)) return { message: error.message, stack: error.stack };
  const message = withoutValue(error.message);
  const frames = error.stack?.match(/\n {4}at [\s\S]*$/)?.[0] ?? '';
  // The stack begins with the message, or with what the message was before knex put the query in front.
  return { message, stack: `${error.name}: ${message}${frames}` };
}

const isDataException = (error: Error): boolean =>
  [error, (error as { nativeError?: unknown }).nativeError].some(
    (one) => isError(one) && DATA_EXCEPTION.test(String((one as { code?: unknown }).code)),
  );

const withoutValue = (message: string): string => message.replace(/: "[\s\S]*$/, '');
