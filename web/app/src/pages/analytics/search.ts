import { compact, dayOf, flagOf, oneOf, type RawSearch } from '../../search-params.ts';

export const analyticsDays = [7, 30, 90] as const;

export interface AnalyticsSearch {
  days?: (typeof analyticsDays)[number] | undefined;
  /** An own period: days, as YYYY-MM-DD. */
  from?: string | undefined;
  to?: string | undefined;
  compare?: boolean | undefined;
  metric?: 'peopleOpens' | 'humanClicks' | 'sent' | undefined;
}

const realDayOf = (value: unknown): string | undefined => {
  const day = dayOf(value);
  return day !== undefined && !Number.isNaN(Date.parse(day)) ? day : undefined;
};

export const analyticsSearch = (raw: RawSearch): AnalyticsSearch =>
  compact({
    days: analyticsDays.find((days) => days === Number(raw.days)),
    from: realDayOf(raw.from),
    to: realDayOf(raw.to),
    compare: flagOf(raw.compare) || undefined,
    metric: oneOf(raw.metric, 'peopleOpens', 'humanClicks', 'sent'),
  });
