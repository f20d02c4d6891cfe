import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';
import { ApiError } from '../../platform/errors.ts';

/** At most `max` uses under one name in a window of `minutes`, which opens with the first use. */
export interface Limit {
  /** Addresses and IPs in it are stored only as part of its hash. */
  name: string;
  max: number;
  minutes: number;
}

interface Row {
  key: Buffer;
  count: number;
  secondsLeft: number;
}

// Sorted, so that two statements that count the same keys lock them in the same order.
const increment = statement<Row>(
  'throttle-increment',
  `insert into auth_attempts as a (key, count, window_minutes)
   select key, 1, minutes from unnest($1::bytea[], $2::integer[]) as given (key, minutes) order by key
   on conflict (key) do update set
     count = case when a.opened_at < now() - make_interval(mins => a.window_minutes) then 1 else a.count + 1 end,
     opened_at = case when a.opened_at < now() - make_interval(mins => a.window_minutes) then now() else a.opened_at end,
     window_minutes = excluded.window_minutes
   returning key, count,
     ceil(extract(epoch from opened_at + make_interval(mins => window_minutes) - now()))::integer as seconds_left`,
);
const decrement = statement(
  'throttle-decrement',
  `update auth_attempts a set count = a.count - 1 from (
     select key from auth_attempts where key = any ($1::bytea[]) and count > 0 order by key for update
   ) counted where a.key = counted.key`,
);
const sweep = statement(
  'throttle-sweep',
  'delete from auth_attempts where opened_at < now() - make_interval(mins => window_minutes)',
);
const remove = statement('throttle-remove', 'delete from auth_attempts where key = any ($1::bytea[])');

const keysOf = (limits: Limit[]): Buffer[] => limits.map(({ name }) => hashToken(name));

/**
 * Counts one use of each limit, over all processes. Returns the seconds until the exceeded ones open again, 0 when none
 * is. Counts before the use, so that of many at once no more than `max` pass.
 */
export async function countUse(db: Db, limits: Limit[]): Promise<number> {
  const byKey = new Map(limits.map((limit) => [hashToken(limit.name).toString('hex'), limit]));
  const rows = await increment(db, [keysOf(limits), limits.map(({ minutes }) => minutes)]);
  const exceeded = rows.filter(({ key, count }) => count > (byKey.get(key.toString('hex'))?.max ?? 0));
  return exceeded.length === 0 ? 0 : Math.max(...exceeded.map(({ secondsLeft: seconds }) => seconds), 1);
}

/** Takes one use back. */
export async function undoUse(db: Db, limits: Limit[]): Promise<void> {
  await decrement(db, [keysOf(limits)]);
}

/** Starts from zero. */
export async function resetUses(db: Db, limits: Limit[]): Promise<void> {
  await remove(db, [keysOf(limits)]);
}

export function tooMany(seconds: number, message = 'Too many attempts.'): ApiError {
  const minutes = Math.ceil(seconds / 60);
  return new ApiError(429, 'RATE_LIMIT_EXCEEDED', message, {
    suggestion: `Try again in ${minutes > 120 ? `${Math.ceil(minutes / 60)} hours` : `${minutes} minutes`}.`,
    headers: { 'Retry-After': String(seconds) },
  });
}

/** Removes counters whose window is over. Returns how many. */
export async function sweepCounters(db: Db): Promise<number> {
  return sweep.count(db);
}
