// Logs outages in few lines: while Postgres or Temporal is down, hundreds of calls fail for the same cause.
import { databaseCauseOf, errorChain } from './database-errors.ts';
import type { Logger } from './logger.ts';
import { processTimings } from './timings.ts';

export interface Outage {
  of: 'database' | 'Temporal';
  /** Equal for failures of the same cause. */
  code: string;
  /** What the server, or the connection to it, said. */
  cause: string;
}

/** gRPC codes of a server that cannot be reached, is too slow or refuses more work. */
const TEMPORAL_CODES = new Map<unknown, string>([
  [4, 'DeadlineExceeded'],
  [8, 'ResourceExhausted'],
  [14, 'Unavailable'],
]);

/** Returns undefined for errors of other kinds, which may be faults of the program. */
export function outageOf(error: unknown): Outage | undefined {
  for (const link of errorChain(error)) {
    const { code, details } = link as { code?: unknown; details?: unknown };
    const name = typeof details === 'string' ? TEMPORAL_CODES.get(code) : undefined;
    // The SDK's native connection has errors without a code.
    if (name !== undefined || link.name === 'TransportError')
      return { of: 'Temporal', code: name ?? link.name, cause: link.message };
  }
  const cause = databaseCauseOf(error);
  return cause === undefined ? undefined : { of: 'database', code: cause, cause };
}

/** Repeated failures since the last line, by cause. */
const repeats = new WeakMap<Logger, Map<string, number>>();

/** Logs the first failure of a cause with its fields, and then once a minute how many followed. */
export function logOutage(log: Logger, outage: Outage, fields: object = {}): void {
  const counts = repeats.get(log) ?? new Map<string, number>();
  repeats.set(log, counts);
  const key = `${outage.of} ${outage.code}`;
  const count = counts.get(key);
  if (count !== undefined) return void counts.set(key, count + 1);
  log.error({ ...fields, cause: outage.cause }, `${outage.of} is unavailable`);
  startPeriod(log, outage, counts);
}

function startPeriod(log: Logger, outage: Outage, counts: Map<string, number>): void {
  const { of, code, cause } = outage;
  const key = `${of} ${code}`;
  counts.set(key, 0);
  setTimeout(() => {
    const failures = counts.get(key);
    if (!failures) return void counts.delete(key);
    log.error({ cause, failures }, `${of} is unavailable: failures since the last line`);
    startPeriod(log, outage, counts);
  }, processTimings.log.outage).unref();
}

interface Failure {
  err: unknown;
  [field: string]: unknown;
}

/** Logs a failure that is retried: with its stack, unless it is an outage. */
export function logFailure(log: Logger, { err, ...fields }: Failure, message: string): void {
  const outage = outageOf(err);
  if (outage) logOutage(log, outage, fields);
  else log.warn({ ...fields, err }, message);
}
