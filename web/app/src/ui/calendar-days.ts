// Days as YYYY-MM-DD, counted in UTC so that no change of the clocks moves them.

const DAY_MS = 86_400_000;

const dateOf = (day: string): Date => new Date(`${day}T00:00:00Z`);
const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(dateOf(text).getTime()) && dayOf(dateOf(text)) === text;

export const addDays = (day: string, days: number): string => dayOf(new Date(dateOf(day).getTime() + days * DAY_MS));

/** The same day of another month, or its last one. */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return dayOf(new Date(Date.UTC(year, month - 1 + months, Math.min(date, last))));
}

/** Six weeks that contain the month of a day. `firstWeekday` is 1 for Monday to 7 for Sunday. */
export function weeksOf(day: string, firstWeekday: number): string[][] {
  const first = `${day.slice(0, 8)}01`;
  const before = (dateOf(first).getUTCDay() - firstWeekday + 7) % 7;
  const start = addDays(first, -before);
  return Array.from({ length: 6 }, (_, week) => Array.from({ length: 7 }, (_, n) => addDays(start, week * 7 + n)));
}

/**
 * Reads a day as people type it: 2026-11-05, or in the order of the language, such as 5.11.2026 or 11/5/2026. Undefined
 * while it is not complete.
 */
export function readDay(text: string, isMonthFirst: boolean): string | undefined {
  const iso = text.trim();
  if (isDay(iso)) return iso;
  const [, a, b, year] = /^\s*(\d{1,2})\s*[./-]\s*(\d{1,2})\s*[./-]\s*(\d{4})\s*$/.exec(text) ?? [];
  if (a === undefined || b === undefined || year === undefined) return undefined;
  // A dot is never written between a month and a day that follows it.
  const [month, day] = isMonthFirst && !text.includes('.') ? [a, b] : [b, a];
  const read = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isDay(read) ? read : undefined;
}
