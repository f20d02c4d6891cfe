import joi from 'joi';
import { isWithinYears, YEARS_RULE } from '../../services/range.ts';
import { optional } from './schemas.ts';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

const DAY = /^\d{4}-\d\d-\d\d$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/;

/** A date or date-time; UTC when it has no offset. */
export const moment = (): Typed<string> =>
  documented(
    joi
      .string()
      .custom((value: string, helpers) => {
        const isDay = DAY.test(value);
        const text = isDay || /(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`;
        const at = new Date(text);
        if (!(isDay || MOMENT.test(value)) || !isReal(at, value))
          return refuse(helpers, 'invalid_string', 'must be a date (YYYY-MM-DD) or an ISO 8601 date-time');
        return text;
      })
      .required(),
    {
      anyOf: [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'date-time' },
      ],
    },
  );

/** Rejects impossible dates: JavaScript reads February 30 as March 2. */
const isReal = (at: Date, text: string): boolean => {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
};

/** A border of a time range. */
export const rangeMoment = (): Typed<string> =>
  (moment() as joi.StringSchema).custom((value: string, helpers) =>
    isWithinYears(new Date(value)) ? value : refuse(helpers, 'invalid_string', YEARS_RULE),
  );

const START = 'Start of the range: a UTC date or an ISO 8601 date-time';
const END = 'End of the range: a UTC date, which is included, or an ISO 8601 date-time, which is not';

/** Query parameters of routes with a time range. */
export const rangeQuery = () => ({
  startDate: optional(rangeMoment()).description(`${START}.`),
  endDate: optional(rangeMoment()).description(`${END}.`),
});

/** Query parameters of statistics, which have a default range. */
export const statsRangeQuery = () => ({
  startDate: optional(rangeMoment()).description(`${START}. By default, the range covers 30 days, including the last.`),
  endDate: optional(rangeMoment()).description(`${END}. Now by default.`),
});
