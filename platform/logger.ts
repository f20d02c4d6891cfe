import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export const logSerializers = { err: (error: unknown) => serializeError(error) };

/** Lines that cannot be written wait in memory up to this length; further ones are dropped. */
const MAX_WAITING = 1024 * 1024;

/** Creates the structured logger of a process. Log ids, never addresses, bodies or keys. */
export function createLogger(part: string, level: string): Logger {
  const output = pino.destination({ dest: process.stdout.fd, sync: false, maxLength: MAX_WAITING });
  // A full disk costs lines of the log, not the process.
  output.on('error', () => {});
  return pino(
    {
      level,
      base: { part },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: logSerializers,
      redact: ['headers.authorization', 'headers.cookie', 'req.headers.authorization', 'req.headers.cookie'],
    },
    output,
  );
}

/**
 * Error fields that contain customers' data from rows or requests: detail, where and internalQuery of pg, sql and bindings
 * of knex, data of Objection, details and _original of joi.
 */
const DROPPED_FIELDS = new Set([
  'detail',
  'details',
  'where',
  'internalQuery',
  'query',
  'sql',
  'bindings',
  'parameters',
  'values',
  'data',
  '_original',
]);

const MAX_DEPTH = 5;
/** SQLSTATE class 22: the message ends with the invalid value. */
const DATA_EXCEPTION = /^22[0-9A-Z]{3}$/;

/** Replaces pino's error serializer: drops fields with customers' data, also in causes and native errors. */
export function serializeError(error: unknown, depth = 0): unknown {
  if (!isError(error)) return error;
  const fields: Record<string, unknown> = { type: error.constructor?.name ?? error.name, ...textOf(error) };
  if (depth >= MAX_DEPTH) return fields;
  for (const [name, value] of Object.entries({ ...error, cause: error.cause }))
    if (!DROPPED_FIELDS.has(name) && !(name in fields) && value !== undefined) fields[name] = fieldOf(value, depth);
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
  // Rebuilds the stack, which starts with the message, or with the message before knex prepended the query.
  return { message, stack: `${error.name}: ${message}${frames}` };
}

const isDataException = (error: Error): boolean =>
  [error, (error as { nativeError?: unknown }).nativeError].some(
    (candidate) => isError(candidate) && DATA_EXCEPTION.test(String((candidate as { code?: unknown }).code)),
  );

const withoutValue = (message: string): string => message.replace(/: "[\s\S]*$/, '');
