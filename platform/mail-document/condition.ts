import {
  FilterViolation,
  type RawFilter,
  readAddress,
  readAddressPart,
  readBoolean,
  readComparable,
  readListOf,
  readNothing,
  readPart,
  readScalar,
} from '../conditions/arguments.ts';
import { keysOf } from '../conditions/field-path.ts';
import { checkExpression } from '../templates/index.ts';
import { textLiteral, valueLiteral } from './literals.ts';
import type {
  ConditionTest,
  DocumentConditionGroup,
  DocumentConditionTree,
  DocumentFilter,
  DocumentViolation,
} from './types.ts';

// Conditions on contact fields, as CONDITION steps have them. The template language decides them with the same tests
// (platform/conditions/value-tests.ts).

const MAX_DEPTH = 10;
const MAX_FILTERS = 200;
const MAX_EXPRESSION = 1_000;
const MAX_FIELD = 1_000;

type Reader = (filter: RawFilter) => unknown;

const scalars = readListOf(readScalar);
const addresses = readListOf(readAddress);

const emailReaders: Record<string, Reader> = {
  equals: readAddress,
  notEquals: readAddress,
  contains: readAddressPart,
  notContains: readAddressPart,
  startsWith: readAddressPart,
  endsWith: readAddressPart,
  in: addresses,
  notIn: addresses,
};

const subscribedReaders: Record<string, Reader> = { equals: readBoolean, notEquals: readBoolean };

const dataReaders: Record<string, Reader> = {
  equals: readScalar,
  notEquals: readScalar,
  in: scalars,
  notIn: scalars,
  contains: readPart,
  notContains: readPart,
  startsWith: readPart,
  endsWith: readPart,
  greaterThan: readComparable,
  lessThan: readComparable,
  greaterThanOrEqual: readComparable,
  lessThanOrEqual: readComparable,
  exists: readNothing,
  notExists: readNothing,
};

interface Field {
  expression: string;
  readers: Record<string, Reader>;
}

export type ConditionReading = { test: ConditionTest } | { violations: DocumentViolation[] };

/** Reads the test of a condition block. `path` is its path in the document. */
export function readTest(value: unknown, path: string): ConditionReading {
  if (!isObject(value)) return { violations: [wrong(path, 'must be a condition, a filter or an expression')] };
  if ('expression' in value) return readExpression(value, path);
  const state: ReadState = { violations: [], filters: 0 };
  const test = 'groups' in value || 'logic' in value ? readTree(state, value, path, 1) : readFilter(state, value, path);
  return test && state.violations.length === 0 ? { test } : { violations: state.violations };
}

function readExpression(value: Record<string, unknown>, path: string): ConditionReading {
  const at = `${path}.expression`;
  const other = Object.keys(value).find((key) => key !== 'expression');
  if (other !== undefined)
    return { violations: [{ path: `${path}.${other}`, code: 'custom', message: 'is not allowed' }] };
  const { expression } = value;
  if (typeof expression !== 'string') return { violations: [wrong(at, 'must be text')] };
  if (expression.length > MAX_EXPRESSION)
    return {
      violations: [{ path: at, code: 'too_big', message: `must be at most ${MAX_EXPRESSION} characters long` }],
    };
  const fault = checkExpression(expression);
  if (fault) return { violations: [{ path: at, code: 'custom', message: `is not a valid expression: ${fault}` }] };
  return { test: { expression } };
}

interface ReadState {
  violations: DocumentViolation[];
  filters: number;
}

function readTree(state: ReadState, value: unknown, path: string, depth: number): DocumentConditionTree | undefined {
  if (!isObject(value)) return report(state, wrong(path, 'must be an object with "logic" and "groups"'));
  if (depth > MAX_DEPTH)
    return report(state, { path, code: 'too_big', message: `is nested deeper than ${MAX_DEPTH} levels` });
  const { logic, groups } = value;
  if (logic !== 'AND' && logic !== 'OR')
    return report(state, { path: `${path}.logic`, code: 'invalid_enum', message: 'must be AND or OR' });
  if (!Array.isArray(groups)) return report(state, wrong(`${path}.groups`, 'must be a list of groups'));
  if (groups.length === 0)
    return report(state, { path: `${path}.groups`, code: 'too_small', message: 'must have at least one group' });
  const read = groups.map((group, at) => readGroup(state, group, `${path}.groups.${at}`, depth));
  return { logic, groups: read.filter((group) => group !== undefined) };
}

function readGroup(state: ReadState, value: unknown, path: string, depth: number): DocumentConditionGroup | undefined {
  if (!isObject(value)) return report(state, wrong(path, 'must be an object with "filters"'));
  const { filters = [], conditions } = value;
  if (!Array.isArray(filters)) return report(state, wrong(`${path}.filters`, 'must be a list of filters'));
  const nested = conditions ?? undefined;
  if (filters.length === 0 && nested === undefined)
    return report(state, { path: `${path}.filters`, code: 'too_small', message: 'must have at least one filter' });
  state.filters += filters.length;
  if (state.filters > MAX_FILTERS)
    return report(state, { path, code: 'too_big', message: `must not have more than ${MAX_FILTERS} filters in total` });
  const read = filters.map((filter, at) => readFilter(state, filter, `${path}.filters.${at}`));
  const tree = nested === undefined ? undefined : readTree(state, nested, `${path}.conditions`, depth + 1);
  return { filters: read.filter((filter) => filter !== undefined), ...(tree && { conditions: tree }) };
}

function readFilter(state: ReadState, value: unknown, path: string): DocumentFilter | undefined {
  if (!isObject(value)) return report(state, wrong(path, 'must be an object with "field" and "operator"'));
  const { field: name, operator } = value;
  const field = typeof name === 'string' ? fieldOf(name) : undefined;
  if (typeof name !== 'string' || !field) {
    const code = name === undefined ? 'required' : 'invalid_string';
    return report(state, { path: `${path}.field`, code, message: 'must be email, subscribed or data.<key>' });
  }
  const reader = typeof operator === 'string' && Object.hasOwn(field.readers, operator) && field.readers[operator];
  if (typeof operator !== 'string' || !reader) {
    const message = `must be one of ${Object.keys(field.readers).join(', ')} for this field`;
    return report(state, {
      path: `${path}.operator`,
      code: operator === undefined ? 'required' : 'invalid_enum',
      message,
    });
  }
  try {
    reader(value);
  } catch (error) {
    if (!(error instanceof FilterViolation)) throw error;
    return report(state, { path: `${path}.${error.part}`, code: codeOf(error), message: error.message });
  }
  return { field: name, operator, ...(value.value !== undefined && { value: value.value }) };
}

const codeOf = ({ code }: FilterViolation): DocumentViolation['code'] => (code === 'reserved_event' ? 'custom' : code);

function fieldOf(name: string): Field | undefined {
  if (name === 'email') return { expression: 'email', readers: emailReaders };
  if (name === 'subscribed') return { expression: 'subscribed', readers: subscribedReaders };
  const keys = name.length <= MAX_FIELD && /^data[.[]/.test(name) ? keysOf(name.slice('data'.length)) : undefined;
  return keys && { expression: `data | field(${keys.map(textLiteral).join(', ')})`, readers: dataReaders };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wrong = (path: string, message: string): DocumentViolation => ({ path, code: 'invalid_type', message });

function report(state: ReadState, violation: DocumentViolation): undefined {
  state.violations.push(violation);
}

/** Writes the test of a condition block as an expression of the template language. */
export function testExpression(test: ConditionTest): string {
  if ('expression' in test) return test.expression;
  return 'groups' in test ? treeExpression(test) : filterExpression(test);
}

function treeExpression({ logic, groups }: DocumentConditionTree): string {
  return joined(groups.map(groupExpression), logic === 'AND' ? 'and' : 'or');
}

function groupExpression({ filters = [], conditions }: DocumentConditionGroup): string {
  return joined([...filters.map(filterExpression), ...(conditions ? [treeExpression(conditions)] : [])], 'and');
}

function filterExpression({ field: name, operator, value }: DocumentFilter): string {
  const field = fieldOf(name);
  const argument = field?.readers[operator]?.({ value });
  const literal = argument === undefined ? '' : `, ${valueLiteral(argument)}`;
  return `${field?.expression} | matches(${textLiteral(operator)}${literal})`;
}

/** Halves long lists, because the template language limits how deep a chain of operators may be. */
function joined(parts: string[], operator: 'and' | 'or'): string {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  const half = Math.ceil(parts.length / 2);
  const halves =
    parts.length <= 8 ? parts : [joined(parts.slice(0, half), operator), joined(parts.slice(half), operator)];
  return `(${halves.join(` ${operator} `)})`;
}
