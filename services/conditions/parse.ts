import { badRequest, type Fault } from '../../platform/errors.ts';
import { fieldOf } from './fields.ts';
import { FilterViolation, type RawFilter } from './operators/operator.ts';
import type { Condition, Group, ParsedCondition, ParseResult, Predicate, Uses } from './types.ts';

export const MAX_DEPTH = 10;
export const MAX_FILTERS = 200;
/** More of them help nobody. */
const MAX_FAULTS = 20;

export interface ParseOptions {
  /** Where in its document the tree stands; paths of faults begin with it. */
  at?: string;
  /** Whether there is an execution whose context `event.<key>` can mean. */
  inExecution?: boolean;
}

type Tree = Record<string, unknown>;

/** What is gathered on the way through a tree. */
interface Walk {
  inExecution: boolean;
  uses: Uses;
  faults: Fault[];
}

/** Reads and checks a whole tree: either every filter of it is understood, or every fault is told with its path. */
export function parseCondition(tree: unknown, { at = '', inExecution = false }: ParseOptions = {}): ParseResult {
  const uses: Uses = {
    fields: new Set(),
    keys: new Set(),
    events: new Set(),
    oldEvents: new Set(),
    eventCount: 1,
    segments: new Map(),
    timeDependent: false,
    filterCount: 0,
  };
  const walk: Walk = { inExecution, uses, faults: [] };
  const condition = readCondition(walk, tree, at, 1);
  if (uses.filterCount > MAX_FILTERS)
    tell(walk, below(at, 'groups'), `must not have more than ${MAX_FILTERS} filters in all`, 'too_big');
  if (condition && walk.faults.length === 0) return { parsed: { condition, uses } };
  return { faults: walk.faults.slice(0, MAX_FAULTS) };
}

/** The same for places where an invalid tree is a 400. */
export function conditionOf(tree: unknown, options?: ParseOptions): ParsedCondition {
  const { parsed, faults } = parseCondition(tree, options);
  if (!parsed) throw invalidCondition(faults);
  return parsed;
}

export const invalidCondition = (errors: Fault[]) =>
  badRequest(`The condition is not valid: ${errors.map(({ message }) => message).join('; ')}.`, { errors });

function readCondition(walk: Walk, tree: unknown, at: string, depth: number): Condition | undefined {
  if (!isTree(tree)) return tell(walk, at, 'must be an object with "logic" and "groups"', 'invalid_type');
  if (depth > MAX_DEPTH) return tell(walk, at, `is nested deeper than ${MAX_DEPTH} levels`, 'too_big');
  const { logic, groups } = tree;
  if (logic !== 'AND' && logic !== 'OR') tell(walk, below(at, 'logic'), 'must be AND or OR', 'invalid_enum');
  if (!Array.isArray(groups)) return tell(walk, below(at, 'groups'), 'must be a list of groups', 'invalid_type');
  if (groups.length === 0) return tell(walk, below(at, 'groups'), 'must have at least one group', 'too_small');
  const read: Group[] = [];
  for (const [n, group] of groups.entries()) {
    if (isOver(walk)) return undefined;
    const one = readGroup(walk, group, below(at, 'groups', n), depth);
    if (one) read.push(one);
  }
  return { logic: logic === 'OR' ? 'OR' : 'AND', groups: read };
}

function readGroup(walk: Walk, group: unknown, at: string, depth: number): Group | undefined {
  if (!isTree(group)) return tell(walk, at, 'must be an object with "filters"', 'invalid_type');
  const { filters = [], conditions } = group;
  if (!Array.isArray(filters)) return tell(walk, below(at, 'filters'), 'must be a list of filters', 'invalid_type');
  const nested = conditions ?? undefined;
  if (filters.length === 0 && nested === undefined)
    return tell(walk, below(at, 'filters'), 'must have at least one filter', 'too_small');
  const read: Predicate[] = [];
  for (const [n, filter] of filters.entries()) {
    walk.uses.filterCount++;
    if (isOver(walk)) return undefined;
    const one = readFilter(walk, filter, below(at, 'filters', n));
    if (one) read.push(one);
  }
  const condition = nested === undefined ? undefined : readCondition(walk, nested, below(at, 'conditions'), depth + 1);
  return { filters: read, condition };
}

function readFilter(walk: Walk, filter: unknown, at: string): Predicate | undefined {
  if (!isTree(filter)) return tell(walk, at, 'must be an object with "field" and "operator"', 'invalid_type');
  const { field, operator } = filter;
  if (typeof field !== 'string') return tell(walk, below(at, 'field'), 'must be the name of a field', codeFor(field));
  if (typeof operator !== 'string')
    return tell(walk, below(at, 'operator'), 'must be the name of an operator', codeFor(operator));
  try {
    return readParts(walk, field, operator, filter, below(at, 'field'));
  } catch (error) {
    if (!(error instanceof FilterViolation)) throw error;
    return tell(walk, below(at, error.part), error.message, error.code);
  }
}

function readParts({ inExecution, uses }: Walk, name: string, operator: string, filter: RawFilter, at: string) {
  const field = fieldOf(name, operator, inExecution);
  const bind = field.find(operator);
  if (!bind)
    throw new FilterViolation(
      'operator',
      `must be one of ${field.operators.join(', ')} for this field`,
      'invalid_enum',
    );
  const predicate = bind(filter);
  field.note(uses, at, filter, predicate);
  uses.timeDependent ||= predicate.drift !== undefined;
  return predicate;
}

const codeFor = (value: unknown) => (value === undefined ? 'required' : 'invalid_type');

const isOver = ({ faults, uses }: Walk) => faults.length >= MAX_FAULTS || uses.filterCount > MAX_FILTERS;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

const below = (at: string, ...keys: (string | number)[]) => [at, ...keys].filter((key) => key !== '').join('.');

function tell({ faults }: Walk, at: string, message: string, code: Fault['code']): undefined {
  faults.push({ field: at, message: at ? `"${at}" ${message}` : `the condition ${message}`, code });
}
