import { parseMoment } from '../../conditions/moments.ts';
import { type Filter, filter } from './filter.ts';
import { plain, textOf } from './values.ts';

/** The languages whose formatters are kept; making one takes a thousand times as long as using it. */
const MAX_KEPT = 20;
const NUMBER = /^[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?$/;

interface Formatters {
  number: Intl.NumberFormat;
  date: Intl.DateTimeFormat;
}

const kept = new Map<string, Formatters>();

/** Numbers and dates as readers of a language write them: `total | number("de")`. Other values stay as they are. */
export const localFilters: Record<string, Filter> = {
  number: filter(['language'], (value, [language], budget) => {
    const given = plain(value);
    const number = typeof given === 'string' && NUMBER.test(given) ? Number(given) : given;
    if (typeof number !== 'number' || !Number.isFinite(number)) return value;
    return formattersOf(textOf(language, budget)).number.format(number);
  }),
  date: filter(['language'], (value, [language], budget) => {
    const given = plain(value);
    const moment = typeof given === 'string' ? parseMoment(given) : undefined;
    return moment === undefined ? value : formattersOf(textOf(language, budget)).date.format(moment);
  }),
};

function formattersOf(language: string): Formatters {
  const known = kept.get(language);
  if (known) return known;
  const locale = isLanguage(language) ? language : 'en';
  const formatters = {
    number: new Intl.NumberFormat(locale, { maximumFractionDigits: 6 }),
    date: new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }),
  };
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(language, formatters);
  return formatters;
}

function isLanguage(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
}
