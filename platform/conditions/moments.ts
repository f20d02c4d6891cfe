/** Must accept the same texts as the SQL function `iso_timestamp`. */
const INSTANT =
  /^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(\.[0-9]{1,9})?(?:Z|([+-])(0[0-9]|1[0-4]):([0-5][0-9]))$/;
const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

export const DAY_MS = 86_400_000;

/** Parses a full ISO 8601 date-time with offset to milliseconds, truncating finer fractions; undefined if invalid. */
export function instantOf(text: string): number | undefined {
  const match = INSTANT.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [, , , , , , , fraction = '.0', sign, offsetHours = '0', offsetMinutes = '0'] = match;
  const date = new Date(0);
  // Date.UTC would map the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (year === 0 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second, Number(fraction.slice(1, 4).padEnd(3, '0')));
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * 60_000;
  return date.getTime() - (sign === '-' ? -offset : offset);
}

/** Parses `YYYY-MM-DD` to the first millisecond of that UTC day. */
export const dayOf = (text: string): number | undefined =>
  DAY.test(text) ? instantOf(`${text}T00:00:00Z`) : undefined;

/** Parses a date-time, or a date as the beginning of its day. */
export const parseMoment = (text: string): number | undefined => instantOf(text) ?? dayOf(text);
