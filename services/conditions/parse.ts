import { badRequest, type Violation } from '../../platform/errors.ts';
import { resolveField } from './fields.ts';
import { FilterViolation, type RawFilter } from './operators/operator.ts';
import type { Condition, Group, ParsedCondition, ParseResult, Predicate, Uses } from './types.ts';

export const MAX_GROUP_DEPTH = 10;
export const MAX_FILTERS = 200;
/** The most violations that are reported. */
const MAX_VIOLATIONS = 20;

export interface ParseOptions {
  /** The path of the tree in its document; paths of violations begin with it. */
  at?: string;
  /** Whether `event.<key>` may refer to the context of an execution. */
  inExecution?: boolean;
}

type Tree = Record<string, unknown>;

/** What is collected while a tree is parsed. */
interface ParseState {
  inExecution: boolean;
  uses: Uses;
  faults: Violation[];
}

/** Parses and validates a whole tree. Returns the condition, or all violations with their paths. */
export function parseCondition(tree: unknown, { at = '', inExecution = false }: ParseOptions = {}): ParseResult {
  const uses: Uses = {
    fields: new Set(),
    keys: new Set(),
    events: new Set(),
    oldEvents: new Set(),
    eventCount: 1,
    testedEvents: [],
    needsTimeZone: false,
    segments: new Map(),
    topics: new Map(),
    emailSources: new Map(),
    emailQuestions: [],
    timeDependent: false,
    filterCount: 0,
  };
  const state: ParseState = { inExecution, uses, faults: [] };
  const condition = readCondition(state, tree, at, 1);
  if (uses.filterCount > MAX_FILTERS)
    report(state, joinPath(at, 'groups'), `must not have more than ${MAX_FILTERS} filters in total`, 'too_big');
  if (condition && state.faults.length === 0) return { parsed: { condition, uses } };
  return { faults: state.faults.slice(0, MAX_VIOLATIONS) };
}

/** Parses a tree and throws a 400 if it is invalid. */
export function requireCondition(tree: unknown, options?: ParseOptions): ParsedCondition {
  const { parsed, faults } = parseCondition(tree, options);
  if (!parsed) throw invalidCondition(faults);
  return parsed;
}

export const invalidCondition = (errors: Violation[]) =>
  badRequest(`The condition is not valid: ${errors.map(({ message }) => message).join('; ')}.`, { errors });

function readCondition(state: ParseState, tree: unknown, at: string, depth: number): Condition | undefined {
  if (!isTree(tree)) return report(state, at, 'must be an object with "logic" and "groups"', 'invalid_type');
  if (depth > MAX_GROUP_DEPTH) return report(state, at, `is nested deeper than ${MAX_GROUP_DEPTH} levels`, 'too_big');
  const { logic, groups } = tree;
  if (logic !== 'AND' && logic !== 'OR') report(state, joinPath(at, 'logic'), 'must be AND or OR', 'invalid_enum');
  if (!Array.isArray(groups)) return report(state, joinPath(at, 'groups'), 'must be a list of groups', 'invalid_type');
  if (groups.length === 0) return report(state, joinPath(at, 'groups'), 'must have at least one group', 'too_small');
  const read: Group[] = [];
  for (const [n, group] of groups.entries()) {
    if (isAtLimit(state)) return undefined;
    const item = readGroup(state, group, joinPath(at, 'groups', n), depth);
    if (item) read.push(item);
  }
  return { logic: logic === 'OR' ? 'OR' : 'AND', groups: read };
}

function readGroup(state: ParseState, group: unknown, at: string, depth: number): Group | undefined {
  if (!isTree(group)) return report(state, at, 'must be an object with "filters"', 'invalid_type');
  const { filters = [], conditions } = group;
  if (!Array.isArray(filters))
    return report(state, joinPath(at, 'filters'), 'must be a list of filters', 'invalid_type');
  const nested = conditions ?? undefined;
  if (filters.length === 0 && nested === undefined)
    return report(state, joinPath(at, 'filters'), 'must have at least one filter', 'too_small');
  const read: Predicate[] = [];
  for (const [n, filter] of filters.entries()) {
    state.uses.filterCount++;
    if (isAtLimit(state)) return undefined;
    const item = readFilter(state, filter, joinPath(at, 'filters', n));
    if (item) read.push(item);
  }
  const condition =
    nested === undefined ? undefined : readCondition(state, nested, joinPath(at, 'conditions'), depth + 1);
  return { filters: read, condition };
}

function readFilter(state: ParseState, filter: unknown, at: string): Predicate | undefined {
  if (!isTree(filter)) return report(state, at, 'must be an object with "field" and "operator"', 'invalid_type');
  const { field, operator } = filter;
  if (typeof field !== 'string')
    return report(state, joinPath(at, 'field'), 'must be the name of a field', codeFor(field));
  if (typeof operator !== 'string')
    return report(state, joinPath(at, 'operator'), 'must be the name of an operator', codeFor(operator));
  try {
    return readParts(state, field, operator, filter, joinPath(at, 'field'));
  } catch (error) {
    if (!(error instanceof FilterViolation)) throw error;
    return report(state, joinPath(at, error.part), error.message, error.code);
  }
}

function readParts({ inExecution, uses }: ParseState, name: string, operator: string, filter: RawFilter, at: string) {
  const field = resolveField(name, operator, inExecution);
  const bind = field.find(operator);
  if (!bind)
    throw new FilterViolation(
      'operator',
      `must be one of ${field.operators.join(', ')} for this field`,
      'invalid_enum',
    );
  const predicate = bind(filter);
  field.recordUse(uses, at, filter, predicate);
  uses.needsTimeZone ||= usesAnniversary(operator, filter);
  uses.timeDependent ||= predicate.drift !== undefined;
  return predicate;
}

/** The test of a `where` counts too. */
function usesAnniversary(operator: unknown, { where }: RawFilter): boolean {
  if (typeof operator === 'string' && operator.startsWith('anniversary')) return true;
  return Array.isArray(where) && where.some((test) => usesAnniversary(test?.operator, {}));
}

const codeFor = (value: unknown) => (value === undefined ? 'required' : 'invalid_type');

const isAtLimit = ({ faults, uses }: ParseState) => faults.length >= MAX_VIOLATIONS || uses.filterCount > MAX_FILTERS;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

const joinPath = (at: string, ...keys: (string | number)[]) => [at, ...keys].filter((key) => key !== '').join('.');

function report({ faults }: ParseState, at: string, message: string, code: Violation['code']): undefined {
  faults.push({ field: at, message: at ? `"${at}" ${message}` : `the condition ${message}`, code });
}
