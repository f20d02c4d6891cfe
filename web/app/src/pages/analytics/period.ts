// The period of the page, in whole days of UTC as the API counts them.
import type { AnalyticsSearch } from './search.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
/** The longest own period; more points than this cannot be told apart. */
export const MAX_DAYS = 400;

export interface Period {
  /** Days as YYYY-MM-DD; the last one is included. */
  startDate: string;
  endDate: string;
}

export const dayText = (time: number): string => new Date(time).toISOString().slice(0, 10);

export function periodOf({ days, from, to }: AnalyticsSearch, now = Date.now()): Period {
  const end = to ? Date.parse(to) : now;
  const start = from ? Date.parse(from) : end - ((days ?? DEFAULT_DAYS) - 1) * DAY_MS;
  const first = Math.max(Math.min(start, end), end - (MAX_DAYS - 1) * DAY_MS);
  return { startDate: dayText(first), endDate: dayText(end) };
}

/** Whether an own period ends before it begins; days as YYYY-MM-DD sort as texts. */
export const isReversed = ({ from, to }: { from?: string | undefined; to?: string | undefined }): boolean =>
  from !== undefined && to !== undefined && from > to;

/** The period of the same length right before. */
export function periodBefore({ startDate, endDate }: Period): Period {
  const start = Date.parse(startDate);
  const end = Date.parse(endDate);
  return { startDate: dayText(2 * start - end - DAY_MS), endDate: dayText(start - DAY_MS) };
}
