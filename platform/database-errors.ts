// Classifies errors of pg, knex and Objection: whether the database is available, and what became of the statement.
// SQLSTATE codes: https://www.postgresql.org/docs/current/errcodes-appendix.html

const QUERY_CANCELED = '57014';
const DEADLOCK_DETECTED = '40P01';
const DISK_FULL = '53100';
const INTERNAL_ERROR = 'XX000';

/** Connection exceptions, insufficient resources, operator intervention: errors of the server, not of the statement. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57']);
const UNAVAILABLE_STATES = new Set([
  '25006', // read_only_sql_transaction: connected to a standby after a failover
  '25P03', // idle_in_transaction_session_timeout: the server has closed the connection
]);
/** The server closed the connection, possibly after it had committed. */
const INTERRUPTED_STATES = new Set(['08000', '08003', '08006', '08007', '40003', '57P01', '57P02', '57P05']);

const NOT_CONNECTED_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
]);
const INTERRUPTED_CODES = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_SOCKET_CLOSED',
]);

// pg and knex give these no code. knex puts the SQL and " - " before the message, so only its end is compared.
const NOT_CONNECTED_TEXT =
  /(^| - )(timeout expired|Unable to acquire a connection|Client has encountered a connection error and is not queryable|Client was closed and is not queryable)$/;
const INTERRUPTED_TEXT =
  /(^| - )(Connection terminated( unexpectedly| due to connection timeout)?|Connection ended unexpectedly|Query read timeout)$/;

/** The request was not sent, the connection broke while a statement was running, or it is a problem of another kind. */
type Reach = 'not connected' | 'interrupted' | 'other';

/** Returns whether the database cannot be used at the moment, so that the same request can succeed later. */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  errorChain(error).some((link) => reachOf(link) !== 'other');

/** Returns why the database cannot be used, without the statement that knex puts before it. Undefined if it can be used. */
export function databaseCauseOf(error: unknown): string | undefined {
  const link = errorChain(error).find((candidate) => reachOf(candidate) !== 'other');
  if (!link) return undefined;
  // An AggregateError of several addresses has no message.
  return link.message.split(' - ').at(-1) || codeOf(link);
}

/**
 * Returns whether the connection broke after a statement was sent and before its result arrived. The server may have
 * committed, so the write must not be repeated unless repeating it is harmless.
 */
export const isOutcomeUnknown = (error: unknown): boolean =>
  errorChain(error).some((link) => reachOf(link) === 'interrupted');

/**
 * Returns whether the server refused the statement and rolled it back. A cancelled statement does not count: it was
 * rolled back too, but repeating it would add to the load that made it slow.
 */
export function isStatementRefused(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state !== undefined && state !== QUERY_CANCELED && !isDatabaseUnavailable(error);
}

/** Returns whether the server cancelled the statement because of `statement_timeout`. */
export const isStatementTimeout = (error: unknown): boolean => sqlStateOf(error) === QUERY_CANCELED;

/** Returns whether Postgres has no space left on its disk. */
export const isDiskFull = (error: unknown): boolean => errorChain(error).some(isOfFullDisk);

export const isDeadlock = (error: unknown): boolean => sqlStateOf(error) === DEADLOCK_DETECTED;

function sqlStateOf(error: unknown): string | undefined {
  return errorChain(error).map(stateOf).find(Boolean);
}

function reachOf(error: Error): Reach {
  const state = stateOf(error);
  if (state !== undefined) {
    if (INTERRUPTED_STATES.has(state)) return 'interrupted';
    const unavailable =
      UNAVAILABLE_STATES.has(state) || UNAVAILABLE_CLASSES.has(state.slice(0, 2)) || isOfFullDisk(error);
    return unavailable && state !== QUERY_CANCELED ? 'not connected' : 'other';
  }
  const code = codeOf(error);
  if (code !== undefined) {
    if (INTERRUPTED_CODES.has(code)) return 'interrupted';
    return NOT_CONNECTED_CODES.has(code) ? 'not connected' : 'other';
  }
  if (INTERRUPTED_TEXT.test(error.message)) return 'interrupted';
  return error.name === 'KnexTimeoutError' || NOT_CONNECTED_TEXT.test(error.message) ? 'not connected' : 'other';
}

function isOfFullDisk(error: Error): boolean {
  const state = stateOf(error);
  // Shared memory, for parallel queries, has the same code. Quotas and limits (EDQUOT, EFBIG) have none of their own.
  if (state === DISK_FULL) return !error.message.includes('shared memory');
  return state === INTERNAL_ERROR && /: (Disk quota exceeded|File too large)$/.test(error.message);
}

/** Node's codes, such as EPIPE, can have five characters too; no SQLSTATE begins with E. */
function stateOf(error: Error): string | undefined {
  const code = codeOf(error);
  return code !== undefined && /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) ? code : undefined;
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** Returns the error and the errors it wraps: Objection's `nativeError`, `cause`, and those of an AggregateError. */
export function errorChain(error: unknown): Error[] {
  const found = new Set<Error>();
  const add = (link: unknown): void => {
    if (!(link instanceof Error) || found.has(link)) return;
    found.add(link);
    add((link as { nativeError?: unknown }).nativeError);
    add(link.cause);
    if (link instanceof AggregateError) link.errors.forEach(add);
  };
  add(error);
  return [...found];
}
