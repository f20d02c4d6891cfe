import { type Fragment, sql } from '../../db/sql.ts';
import { DAY_MS, dayOf, instantOf, instantSql } from './instants.ts';
import { FilterViolation, type RawFilter } from './operators/operator.ts';

// Anniversaries are compared as month and day (MM-DD): the days of a range are listed once, so that SQL and the evaluation
// in memory follow one calendar.

const MAX_DAYS = 366;

/** Reads `value` and `unit` as a number of days. */
export function readDays({ value, unit }: RawFilter): number {
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw new FilterViolation('value', 'must be a whole number of days', 'invalid_type');
  if (value < 0) throw new FilterViolation('value', 'must be at least 0', 'too_small');
  if (value > MAX_DAYS) throw new FilterViolation('value', `must be at most ${MAX_DAYS}`, 'too_big');
  if (unit === undefined || unit === null) throw new FilterViolation('unit', 'is required: days', 'required');
  if (unit !== 'days') throw new FilterViolation('unit', 'must be days', 'invalid_enum');
  return value;
}

/** Where and when an anniversary is asked for. */
interface Today {
  now: Date;
  timeZone: string;
}

/** The days whose anniversary is at most this many days ahead, today included. */
export const comingDays = (days: number, today: Today): string[] => monthDays(today, 0, days);

/** The days whose anniversary was at most this many days ago, today included. */
export const pastDays = (days: number, today: Today): string[] => monthDays(today, -days, 0);

/** 29 February counts as 28 February in other years. */
function monthDays({ now, timeZone }: Today, from: number, to: number): string[] {
  const today = dayOf(localDay(now.getTime(), timeZone)) ?? 0;
  const days: string[] = [];
  for (let n = from; n <= to; n++) {
    const date = new Date(today + n * DAY_MS);
    const day = date.toISOString().slice(5, 10);
    days.push(day);
    if (day === '02-28' && new Date(date.getTime() + DAY_MS).getUTCDate() === 1) days.push('02-29');
  }
  return days;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the date of an instant in a time zone, as YYYY-MM-DD. */
function localDay(instant: number, timeZone: string): string {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  formats.set(timeZone, format);
  return format.format(instant);
}

const MONTH_DAY = 'MM-DD'.length;

/** Month and day of an instant, in the time zone. */
export const monthDayOf = (instant: number, timeZone: string): string => localDay(instant, timeZone).slice(-MONTH_DAY);

/** Month and day of a date, or of a date-time in the time zone; undefined for any other text. */
export function monthDayOfText(text: string, timeZone: string): string | undefined {
  const instant = instantOf(text);
  if (instant !== undefined) return monthDayOf(instant, timeZone);
  return dayOf(text) === undefined ? undefined : text.slice(-MONTH_DAY);
}

export const monthDaySql = (instant: Fragment, timeZone: string): Fragment =>
  sql`to_char(${instant} at time zone ${timeZone}::text, 'MM-DD')`;

/** Null for a text that is no date. */
export const monthDayOfTextSql = (text: Fragment, timeZone: string): Fragment =>
  sql`case when ${instantSql(text)} is not null then ${monthDaySql(instantSql(text), timeZone)}
    when ${instantSql(sql`(${text} || 'T00:00:00Z')`)} is not null then right(${text}, 5) end`;
