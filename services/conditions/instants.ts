import { type Fragment, sql } from '../../db/sql.ts';
import { DAY_MS } from '../../platform/conditions/moments.ts';

export { DAY_MS, dayOf, instantOf, parseMoment } from '../../platform/conditions/moments.ts';

/** SQL that is null where the text is no full date-time. */
export const instantSql = (text: Fragment): Fragment => sql`iso_timestamp(${text})`;

export const momentSql = (text: Fragment): Fragment =>
  sql`coalesce(iso_timestamp(${text}), iso_timestamp(${text} || 'T00:00:00Z'))`;

export const timestamp = (milliseconds: number): Fragment => sql`${new Date(milliseconds).toISOString()}::timestamptz`;

export const timeUnits = ['minutes', 'hours', 'days', 'weeks', 'months'] as const;
export type TimeUnit = (typeof timeUnits)[number];

export interface TimeSpan {
  amount: number;
  unit: TimeUnit;
}

const unitMs = { minutes: 60_000, hours: 3_600_000, days: DAY_MS, weeks: 7 * DAY_MS };

/** Subtracts a span from `now`. SQL and in-memory evaluation both use it, so that they agree. */
export function before(now: Date, { amount, unit }: TimeSpan): number {
  if (unit !== 'months') return Math.round(now.getTime() - amount * unitMs[unit]);
  const date = new Date(now);
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() - amount);
  // One month before 31 March is the last day of February.
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(now.getUTCDate(), lastDay));
  return date.getTime();
}
