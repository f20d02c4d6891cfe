// How the calendar and its fields write days in the user's own format; loaded with them.
import { locale } from '../format.ts';

const monthFormat = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const calendarFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeZone: 'UTC' });
const asUtc = (calendar: string): Date => new Date(`${calendar.slice(0, 10)}T12:00:00Z`);
/** The month of a day such as 2026-11-05, with its year. */
export const monthName = (calendar: string): string => monthFormat.format(asUtc(calendar));
/** A day with its weekday, for screen readers. */
export const calendarDay = (calendar: string): string => calendarFormat.format(asUtc(calendar));
export const weekdayName = (calendar: string, length: 'short' | 'long'): string =>
  new Intl.DateTimeFormat(locale, { weekday: length, timeZone: 'UTC' }).format(asUtc(calendar));
/** Whether people write the month before the day. */
export const isMonthFirst: boolean =
  new Intl.DateTimeFormat(locale).formatToParts(0).find(({ type }) => type === 'month' || type === 'day')?.type ===
  'month';
/** 1 for Monday to 7 for Sunday. Browsers that do not know it begin with Monday. */
export const firstWeekday: number = weekInfoOf(new Intl.Locale(locale))?.firstDay ?? 1;

type WeekInfo = { firstDay: number };

function weekInfoOf(known: Intl.Locale & { getWeekInfo?(): WeekInfo; weekInfo?: WeekInfo }): WeekInfo | undefined {
  return known.getWeekInfo?.() ?? known.weekInfo;
}
