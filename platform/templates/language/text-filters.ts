import type { Budget } from './budget.ts';
import { escapeHtml } from './escape.ts';
import { type Filter, filter } from './filter.ts';
import { stripTags } from './strip-tags.ts';
import { urlize } from './urlize.ts';
import { isPlainObject, isText, isTrue, numberOf, plain, SafeText, textOf } from './values.ts';

/** Bounds the memory that padding can take. */
const MAX_WIDTH = 1000;

type Change = (text: string, args: unknown[], budget: Budget) => string;

/** A filter from text to text that keeps SafeText safe. `weight` is the cost relative to copying. */
const changing = (parameters: string[], change: Change, weight = 1): Filter =>
  filter(parameters, (value, args, budget) => {
    const text = budget.text(textOf(value, budget));
    budget.scan(text.length * weight);
    const changed = budget.text(change(text, args, budget));
    return value instanceof SafeText ? new SafeText(changed) : changed;
  });

/** A filter whose result must be escaped even if the input was SafeText. */
const unsafe = (change: Change): Filter => {
  const { apply } = changing([], change);
  return filter([], (value, args, budget) => plain(apply(value, args, budget)));
};

const toHtml = (html: (value: unknown, budget: Budget) => string): Filter =>
  filter([], (value, _, budget) =>
    value instanceof SafeText ? value : new SafeText(budget.text(html(value, budget))),
  );

const escaped = toHtml(escapedText);

export const textFilters: Record<string, Filter> = {
  capitalize: changing([], capitalize),
  center: changing(['width'], (text, [width], budget) => {
    const spaces = widthOf(width, 80, budget) - text.length;
    if (spaces <= 0) return text;
    return ' '.repeat(Math.max(0, Math.ceil(spaces / 2 - (spaces % 2)))) + text + ' '.repeat(Math.ceil(spaces / 2));
  }),
  escape: escaped,
  e: escaped,
  forceescape: filter([], (value, _, budget) => new SafeText(budget.text(escapedText(value, budget)))),
  indent: changing(['width', 'indentfirst'], indent),
  lower: unsafe((text) => text.toLowerCase()),
  nl2br: changing([], (text) => text.replace(/\r\n|\n/g, '<br />\n'), 4),
  replace: filter(['old', 'new', 'count'], (value, args, budget) =>
    isText(value) || typeof value === 'number' ? replacing.apply(value, args, budget) : value,
  ),
  safe: toHtml(textOf),
  striptags: changing(['preserve_linebreaks'], stripTags, 8),
  title: changing([], (text) => text.split(' ').map(capitalize).join(' '), 32),
  trim: changing([], (text) => text.trim()),
  truncate: changing(['length', 'killwords', 'end'], truncate),
  upper: unsafe((text) => text.toUpperCase()),
  urlencode: filter([], urlEncode),
  urlize: filter(['length', 'nofollow'], urlize),
  wordcount: filter([], (value, _, budget) => {
    const words = budget.text(textOf(value, budget)).match(/\w+/g);
    budget.spend(words?.length ?? 0);
    return words?.length ?? null;
  }),
};

function escapedText(value: unknown, budget: Budget): string {
  const text = budget.text(textOf(value, budget));
  budget.scan(text.length * 8);
  return escapeHtml(text);
}

const replacing = changing(['old', 'new', 'count'], replace);

function capitalize(text: string): string {
  const lower = text.toLowerCase();
  return lower.charAt(0).toUpperCase() + lower.slice(1);
}

function widthOf(width: unknown, otherwise: number, budget: Budget): number {
  return Math.min(numberOf(width ?? otherwise, budget) || otherwise, MAX_WIDTH);
}

function indent(text: string, [width, indentFirst]: unknown[], budget: Budget): string {
  if (text === '') return '';
  const space = ' '.repeat(Math.max(0, Math.ceil(widthOf(width, 4, budget))));
  const lines = text.split('\n');
  budget.make(text.length + lines.length * space.length);
  return lines.map((line, index) => (index === 0 && !isTrue(indentFirst) ? line : space + line)).join('\n');
}

function replace(text: string, [old, by, count]: unknown[], budget: Budget): string {
  const wanted = plain(old);
  if (typeof wanted !== 'string' && typeof wanted !== 'number') return text;
  const replacement = textOf(by, budget);
  const search = String(wanted);
  budget.search(text.length, search.length);
  budget.spend(text.length / Math.max(1, search.length));
  if (search === '') {
    budget.make(text.length + (text.length + 1) * replacement.length);
    return replacement + text.split('').join(replacement) + replacement;
  }
  const limit = count === undefined ? -1 : numberOf(count, budget);
  const pieces = text.split(search);
  const times = limit < 0 ? pieces.length - 1 : Math.min(pieces.length - 1, Math.ceil(limit));
  budget.make(text.length + times * replacement.length);
  const replaced = pieces.slice(0, times + 1).join(replacement);
  return [replaced, ...pieces.slice(times + 1)].join(search);
}

function truncate(text: string, [length, killWords, end]: unknown[], budget: Budget): string {
  const max = numberOf(length ?? 255, budget) || 255;
  if (text.length <= max) return text;
  const space = isTrue(killWords) ? -1 : text.lastIndexOf(' ', max);
  return text.slice(0, space === -1 ? max : space) + (end === undefined || end === null ? '...' : textOf(end, budget));
}

/** Encodes a text, or the pairs of an object or list as a query string. */
function urlEncode(value: unknown, _: unknown[], budget: Budget): string {
  const encode = (part: unknown): string => {
    const text = textOf(part, budget).replace(/\p{Surrogate}/gu, '\ufffd');
    return budget.text(encodeURIComponent(text));
  };
  if (!isPlainObject(value) && !Array.isArray(value)) return encode(value);
  const pairs: unknown[] = Array.isArray(value) ? value : Object.entries(value);
  budget.spend(pairs.length);
  return pairs.map((pair) => (Array.isArray(pair) ? `${encode(pair[0])}=${encode(pair[1])}` : encode(pair))).join('&');
}
