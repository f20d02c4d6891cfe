// Dates and numbers in the user's own format.
const language = document.documentElement.lang || 'en';
export const locale = navigator.languages.find((name) => name.startsWith(language)) ?? language;

const wholeFormat = new Intl.NumberFormat(locale);
const compactFormat = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
const decimalFormat = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
const percentFormat = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
const dateFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const dayFormat = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
const hourFormat = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', hour: 'numeric' });
const dateTimeFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const exactFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' });
const relativeFormat = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const listFormat = new Intl.ListFormat(locale, { type: 'conjunction' });
const pluralRules = new Intl.PluralRules(language);

export const number = (value: number): string => wholeFormat.format(value);
export const compact = (value: number): string => compactFormat.format(value);
export const decimal = (value: number): string => decimalFormat.format(value);
export const percent = (share: number): string => percentFormat.format(share);
export const hour = (text: string): string => hourFormat.format(new Date(text));
export const date = (text: string): string => dateFormat.format(new Date(text));
/** A calendar day of the API, which counts days in UTC. */
export const day = (text: string): string => dayFormat.format(new Date(`${text.slice(0, 10)}T12:00:00`));
/** A day of the user's own calendar as YYYY-MM-DD, a number of days ago. */
export function localDay(daysAgo: number): string {
  const now = new Date();
  const then = new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo, 12);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())}`;
}
export const dateTime = (text: string): string => dateTimeFormat.format(new Date(text));
export const exactTime = (text: string): string => exactFormat.format(new Date(text));
export const joinList = (items: string[]): string => listFormat.format(items);

/** Picks the form of a count: `plural(2, { one: 'contact', other: 'contacts' })`. */
export const plural = (count: number, forms: { one: string; other: string }): string =>
  `${number(count)} ${pluralRules.select(count) === 'one' ? forms.one : forms.other}`;

const spans: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

export function relative(text: string, now = Date.now()): string {
  const seconds = (new Date(text).getTime() - now) / 1000;
  const [unit, length] = spans.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1];
  return relativeFormat.format(Math.round(seconds / length), unit);
}

/** A duration such as "4 min" or "1 h 20 min". */
export function duration(totalSeconds: number): string {
  const unit = (value: number, name: 'second' | 'minute' | 'hour') =>
    new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'short' }).format(value);
  const seconds = Math.max(0, Math.round(totalSeconds));
  if (seconds < 60) return unit(seconds, 'second');
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return unit(minutes, 'minute');
  const rest = minutes % 60;
  return rest === 0 ? unit(minutes / 60, 'hour') : `${unit(Math.floor(minutes / 60), 'hour')} ${unit(rest, 'minute')}`;
}

/** An amount of a unit of time such as "3 days". The unit has the plural form of the API. */
export function span(amount: number, unit: string): string {
  const name = unit.replace(/s$/, '');
  return new Intl.NumberFormat(locale, { style: 'unit', unit: name, unitDisplay: 'long' }).format(amount);
}

/** Shows any value of contact data as text. */
export const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Shows a value to people: times and days in their own format. */
export function shownValue(value: unknown): string {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value))) return valueText(value);
  return TIME.test(value) ? dateTime(value) : DAY.test(value) ? date(`${value}T12:00:00`) : value;
}

/** An amount in the smallest unit of its currency, as billing providers give it. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}
