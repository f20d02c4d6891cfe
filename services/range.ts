import { badRequest } from '../platform/errors.ts';

/** Includes `from` and excludes `to`. */
export interface Range {
  from: Date;
  to: Date;
}

/** The dates of a request: UTC days or times. An end date that is a day includes that day. */
export interface RangeQuery {
  startDate?: string | undefined;
  endDate?: string | undefined;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const DEFAULT_DAYS = 30;

const FIRST_YEAR = 1970;
const LAST_YEAR = 2200;
export const YEARS_RULE = `must be between the years ${FIRST_YEAR} and ${LAST_YEAR}`;

/** Returns whether a border of a range is in the years that ranges may have: others break the arithmetic of Postgres. */
export const isWithinYears = (at: Date): boolean =>
  at.getUTCFullYear() >= FIRST_YEAR && at.getUTCFullYear() <= LAST_YEAR;

const isDay = (text: string): boolean => text.length === 10;

/** `names` are those of the query parameters, for the error. */
export function readRange(
  { startDate, endDate }: RangeQuery,
  names = { start: 'startDate', end: 'endDate' },
): Partial<Range> {
  const from = startDate === undefined ? undefined : new Date(startDate);
  const to = endDate === undefined ? undefined : new Date(Date.parse(endDate) + (isDay(endDate) ? DAY : 0));
  if (from && endDate !== undefined && from.getTime() > Date.parse(endDate))
    throw badRequest(`${names.start} must not be after ${names.end}.`);
  return { ...(from && { from }), ...(to && { to }) };
}

/**
 * Returns the whole hours that a range touches, for statistics by the hour. The default is the last 30 days, including
 * today.
 */
export function readWholeHours(query: RangeQuery, now = new Date()): Range {
  const { from, to = from && from > now ? from : now } = readRange(query);
  // 1 ms before the end, because an end at midnight belongs to the day before.
  const start = from ?? new Date(floor(new Date(to.getTime() - 1), DAY) - (DEFAULT_DAYS - 1) * DAY);
  return { from: new Date(floor(start, HOUR)), to: new Date(ceil(to, HOUR)) };
}

/** Returns the whole days of UTC that a range touches. */
export function readWholeDays(query: RangeQuery, now = new Date()): Range {
  const { from, to } = readWholeHours(query, now);
  return { from: new Date(floor(from, DAY)), to: new Date(ceil(to, DAY)) };
}

const ceil = (at: Date, unit: number): number => Math.ceil(at.getTime() / unit) * unit;
const floor = (at: Date, unit: number): number => Math.floor(at.getTime() / unit) * unit;

/** Splits a range into its whole hours, which have aggregated counts, and the rest at its ends. */
export function splitHours({ from, to }: Partial<Range>): { hours: Partial<Range>; ends: Range[] } {
  const first = from && new Date(ceil(from, HOUR));
  const last = to && new Date(floor(to, HOUR));
  if (from && to && first && last && first >= last) return { hours: { from, to: from }, ends: [{ from, to }] };
  const ends = [];
  if (from && first && from < first) ends.push({ from, to: first });
  if (to && last && last < to) ends.push({ from: last, to });
  return { hours: { ...(first && { from: first }), ...(last && { to: last }) }, ends };
}
