import type { Budget } from './budget.ts';
import { type Filter, filter } from './filter.ts';
import { tests } from './tests.ts';
import {
  add,
  compare,
  isPlainObject,
  isText,
  isTrue,
  join,
  listOf,
  lookUp,
  numberOf,
  plain,
  textOf,
} from './values.ts';

const MAX_PATH = 20;

type Change = (list: unknown[], args: unknown[], budget: Budget) => unknown;

/** Treats a text as the list of its characters, and any other value as an empty list. */
const ofList = (parameters: string[], change: Change): Filter =>
  filter(parameters, (value, args, budget) => {
    const list = listOf(value, budget);
    budget.spend(list.length);
    return change(list, args, budget);
  });

export const listFilters: Record<string, Filter> = {
  batch: ofList(['linecount', 'fill_with'], batch),
  dictsort: filter(['case_sensitive', 'by'], dictSort),
  first: ofList([], (list) => list[0]),
  groupby: ofList(['attribute'], groupBy),
  join: ofList(['d', 'attribute'], (list, [separator, name], budget) => {
    const texts = list.map(attribute(name)).map((item) => textOf(item, budget));
    return join(texts, textOf(separator, budget), budget);
  }),
  last: ofList([], (list) => list.at(-1)),
  list: filter([], (value, _, budget) => {
    if (!isPlainObject(value)) return listOf(value, budget);
    const entries = Object.entries(value);
    budget.spend(entries.length);
    return entries.map(([key, item]) => ({ key, value: item }));
  }),
  random: ofList([], (list) => list[Math.floor(Math.random() * list.length)]),
  reject: ofList(['test', 'argument'], (list, args, budget) => list.filter(passes(args, false, budget))),
  rejectattr: ofList(['attribute'], (list, [name]) => {
    const get = attribute(name);
    return list.filter((item) => !isTrue(get(item)));
  }),
  reverse: filter([], (value, _, budget) => {
    const reversed = [...listOf(value, budget)].reverse();
    budget.spend(reversed.length);
    return isText(value) ? reversed.join('') : reversed;
  }),
  select: ofList(['test', 'argument'], (list, args, budget) => list.filter(passes(args, true, budget))),
  selectattr: ofList(['attribute'], (list, [name]) => {
    const get = attribute(name);
    return list.filter((item) => isTrue(get(item)));
  }),
  slice: ofList(['slices', 'fill_with'], slice),
  sort: ofList(['reverse', 'case_sensitive', 'attribute'], (list, [reversed, caseSensitive, name], budget) => {
    const comparator = order(isTrue(caseSensitive), budget);
    const get = attribute(name);
    const sorted = [...list].sort((a, b) => comparator(get(a), get(b)));
    return isTrue(reversed) ? sorted.reverse() : sorted;
  }),
  sum: ofList(['attribute', 'start'], (list, [name, start = 0], budget) =>
    list.map(attribute(name)).reduce((sum, item) => add(sum, item, budget), start),
  ),
};

/** Returns a getter for `a.b` in nested objects; without a path it returns the item itself. */
function attribute(path: unknown): (item: unknown) => unknown {
  const name = plain(path);
  if (name === undefined || name === null || name === '') return (item) => item;
  const keys = typeof name === 'string' ? name.split('.', MAX_PATH) : [name];
  return (item) => keys.reduce((value, key) => lookUp(value, key), item);
}

function passes([name = 'truthy', argument]: unknown[], wanted: boolean, budget: Budget): (item: unknown) => boolean {
  const test = tests.get(textOf(name, budget));
  return (item) => test?.(item, argument, budget) === wanted;
}

/** Compares texts without regard to case by default, and pays for each comparison. */
function order(caseSensitive: boolean, budget: Budget): (a: unknown, b: unknown) => number {
  const key = (value: unknown): unknown => {
    const given = plain(value);
    return typeof given === 'string' && !caseSensitive ? budget.text(given).toLowerCase() : given;
  };
  return (a, b) => {
    const x = key(a);
    const y = key(b);
    budget.spend(1);
    if (compare('<', x, y, budget)) return -1;
    return compare('>', x, y, budget) ? 1 : 0;
  };
}

function dictSort(value: unknown, [caseSensitive, by]: unknown[], budget: Budget): unknown[] {
  if (!isPlainObject(value)) return [];
  const column = plain(by) === 'value' ? 1 : 0;
  const comparator = order(isTrue(caseSensitive), budget);
  const entries = Object.entries(value);
  budget.spend(entries.length);
  return entries.sort((a, b) => comparator(a[column], b[column]));
}

function groupBy(list: unknown[], [name]: unknown[], budget: Budget): Record<string, unknown[]> {
  const get = attribute(name);
  const groups = new Map<string, unknown[]>();
  for (const item of list) {
    const value = get(item);
    const key = value === undefined ? 'undefined' : value === null ? 'null' : textOf(value, budget);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return Object.fromEntries(groups);
}

function batch(list: unknown[], [size, fill]: unknown[], budget: Budget): unknown[][] {
  const length = Math.max(1, Math.floor(numberOf(size, budget)) || list.length || 1);
  const rows: unknown[][] = [];
  for (let at = 0; at < list.length; at += length) rows.push(list.slice(at, at + length));
  const last = rows.at(-1);
  if (last && isTrue(fill)) {
    budget.spend(length - last.length);
    while (last.length < length) last.push(fill);
  }
  return rows;
}

function slice(list: unknown[], [count, fill]: unknown[], budget: Budget): unknown[][] {
  const slices = Math.max(0, Math.floor(numberOf(count, budget)) || 0);
  budget.spend(slices);
  const length = Math.floor(list.length / slices);
  const extra = list.length % slices;
  let at = 0;
  return Array.from({ length: slices }, (_, index) => {
    const row = list.slice(at, at + length + (index < extra ? 1 : 0));
    at += length + (index < extra ? 1 : 0);
    if (isTrue(fill) && index >= extra) row.push(fill);
    return row;
  });
}
