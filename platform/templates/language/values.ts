import type { Budget } from './budget.ts';

// The values of a template are those of JSON and the two classes below. Prototypes, methods and implicit conversions of
// JavaScript are not reachable.

/** HTML that needs no escaping; `skeleton` is the same with placeholders for its values (see marks.ts). */
export class SafeText {
  readonly text: string;
  readonly skeleton: string;

  constructor(text: string, skeleton = text) {
    this.text = text;
    this.skeleton = skeleton;
  }
}

/** A value that can be called and has no data; `Macro` in run.ts is the only kind. */
export abstract class Callable {}

/** Lists nested deeper than this render as empty. */
const MAX_DEPTH = 10;

export const isText = (value: unknown): value is string | SafeText =>
  typeof value === 'string' || value instanceof SafeText;

export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof SafeText) &&
  !(value instanceof Callable);

/** Converts a value to text; undefined, null and NaN become empty. */
export function textOf(value: unknown, budget: Budget, depth = 0): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return Number.isNaN(value) ? '' : String(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof SafeText) return value.text;
  if (Array.isArray(value)) {
    if (depth === MAX_DEPTH) return '';
    budget.spend(value.length);
    return join(
      value.map((item) => textOf(item, budget, depth + 1)),
      ',',
      budget,
    );
  }
  return isPlainObject(value) ? '[object Object]' : '';
}

/** Joins texts and pays for the result first, because a list may contain the same long text many times. */
export function join(texts: string[], between: string, budget: Budget): string {
  let length = 0;
  for (const text of texts) length += text.length + between.length;
  budget.make(length);
  return texts.join(between);
}

export const isTrue = (value: unknown): boolean => (value instanceof SafeText ? value.text !== '' : Boolean(value));

export const plain = (value: unknown): unknown => (value instanceof SafeText ? value.text : value);

const isComposite = (value: unknown): boolean => typeof value === 'object' && value !== null;

export function numberOf(value: unknown, budget: Budget): number {
  const given = plain(value);
  if (typeof given === 'string') budget.scan(given.length);
  return isComposite(given) ? Number.NaN : Number(given);
}

/** `value.key`: own properties only, nothing inherited. */
export function lookUp(value: unknown, key: unknown): unknown {
  const name = plain(key);
  if (typeof name !== 'string' && typeof name !== 'number') return undefined;
  const of = plain(value);
  if (typeof of === 'string' || Array.isArray(of)) return name === 'length' ? of.length : of[indexOf(name)];
  return isPlainObject(of) && Object.hasOwn(of, name) ? of[name] : undefined;
}

const indexOf = (name: string | number): number =>
  typeof name === 'number' ? name : /^[0-9]{1,9}$/.test(name) ? Number(name) : -1;

export function add(a: unknown, b: unknown, budget: Budget): unknown {
  if (isText(a) || isText(b) || isComposite(a) || isComposite(b)) return concat(a, b, budget);
  return (a as number) + (b as number);
}

export const concat = (a: unknown, b: unknown, budget: Budget): string =>
  budget.text(textOf(a, budget) + textOf(b, budget));

export function compare(operator: string, left: unknown, right: unknown, budget: Budget): boolean {
  const a = plain(left);
  const b = plain(right);
  if (typeof a === 'string') budget.scan(a.length);
  // Lists and objects are compared by identity and have no order.
  if (isComposite(a) || isComposite(b)) {
    if (operator === '==' || operator === '===') return a === b;
    return (operator === '!=' || operator === '!==') && a !== b;
  }
  return comparePlain(operator, a as number, b as number);
}

/** Compares numbers, texts, booleans and null with the semantics of JavaScript, as nunjucks does. */
function comparePlain(operator: string, a: number, b: number): boolean {
  switch (operator) {
    case '==':
      // biome-ignore lint/suspicious/noDoubleEquals: `1 == "1"` is true in a template
      return a == b;
    case '!=':
      // biome-ignore lint/suspicious/noDoubleEquals: as above
      return a != b;
    case '===':
      return a === b;
    case '!==':
      return a !== b;
    case '<':
      return a < b;
    case '>':
      return a > b;
    case '<=':
      return a <= b;
    default:
      return a >= b;
  }
}

/** `key in value` for lists, texts and objects. */
export function contains(value: unknown, key: unknown, budget: Budget): boolean {
  const within = plain(value);
  const wanted = plain(key);
  if (Array.isArray(within)) {
    budget.search(typeof wanted === 'string' ? wanted.length : 1, within.length);
    return within.some((item) => plain(item) === wanted);
  }
  if (typeof within === 'string') {
    const part = textOf(wanted, budget);
    budget.search(within.length, part.length);
    return within.includes(part);
  }
  return isPlainObject(within) && typeof wanted === 'string' && Object.hasOwn(within, wanted);
}

/** Returns what a loop over one name iterates: a list, or the characters of a text. */
export function listOf(value: unknown, budget: Budget): unknown[] {
  const of = plain(value);
  if (Array.isArray(of)) return of;
  if (typeof of !== 'string') return [];
  budget.spend(of.length);
  return of.split('');
}

/** Returns what a loop over several names iterates: the entries of an object, or the rows of a list. */
export function rowsOf(value: unknown, budget: Budget): unknown[][] {
  if (isPlainObject(value)) {
    const entries = Object.entries(value);
    budget.spend(entries.length);
    return entries;
  }
  const rows = listOf(value, budget);
  budget.spend(rows.length);
  return rows.map((row) => (Array.isArray(row) ? row : []));
}
