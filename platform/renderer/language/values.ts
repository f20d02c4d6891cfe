import type { Budget } from './budget.ts';
import type { Run } from './run.ts';

// The values of a template are those of JSON, and the two below. Whatever else JavaScript would do with a value
// (prototypes, methods, conversions that call them) is not reachable from here.

/** Text that is HTML already; `outline` is the same with its values marked (see marks.ts). */
export class SafeText {
  readonly text: string;
  readonly outline: string;

  constructor(text: string, outline = text) {
    this.text = text;
    this.outline = outline;
  }
}

/** What a `macro` or a `call` block defines. */
export class Callable {
  readonly call: (run: Run, args: unknown[], named: ReadonlyMap<string, unknown>) => SafeText;

  constructor(call: Callable['call']) {
    this.call = call;
  }
}

/** Lists in lists deeper than this have no text. */
const MAX_DEPTH = 10;

export const isText = (value: unknown): value is string | SafeText =>
  typeof value === 'string' || value instanceof SafeText;

export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof SafeText) &&
  !(value instanceof Callable);

/** Missing, null and what is no number are empty. */
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

/** The only way to join: a list may hold the same long text many times. */
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

/** `value.key`: what the value itself has, nothing that it inherits. */
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
  // Two lists or objects are equal when they are the same one; they have no order.
  if (isComposite(a) || isComposite(b)) {
    if (operator === '==' || operator === '===') return a === b;
    return (operator === '!=' || operator === '!==') && a !== b;
  }
  return comparePlain(operator, a as number, b as number);
}

/** Of numbers, texts, booleans and null, as nunjucks has it from JavaScript. */
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

/** What a loop over one name goes through: a list, or the characters of a text. */
export function listOf(value: unknown, budget: Budget): unknown[] {
  const of = plain(value);
  if (Array.isArray(of)) return of;
  if (typeof of !== 'string') return [];
  budget.spend(of.length);
  return of.split('');
}

/** What a loop over two names and more goes through: the keys and values of an object, or the rows of a list. */
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
