// The condition tree as the builder edits it, and the operators of each kind of field.
import type { Condition as ApiCondition } from '../api/api-types.ts';
import type { Segment } from '../api/types.ts';
import { t } from '../texts/index.ts';

export interface Filter {
  field: string;
  operator: string;
  value?: unknown;
  unit?: string | undefined;
  count?: number | undefined;
}

export interface Group {
  filters: Filter[];
  conditions?: Condition | undefined;
}

export interface Condition {
  logic: 'AND' | 'OR';
  groups: Group[];
}

/** For a request: the API refuses a filter that is not complete. */
export const requestedCondition = (condition: Condition): ApiCondition => condition as ApiCondition;

export type FieldKind = 'email' | 'subscribed' | 'date' | 'data' | 'event' | 'segment';
/** The input that a value needs. */
export type ValueInput = 'text' | 'list' | 'flag' | 'date' | 'span' | 'none' | 'scalar';

const comparisons = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'];

export const operatorsOf: Record<FieldKind, string[]> = {
  email: ['equals', 'notEquals', 'contains', 'notContains', 'startsWith', 'endsWith', 'in', 'notIn'],
  subscribed: ['equals', 'notEquals'],
  date: ['within', 'olderThan', 'equals', 'notEquals', ...comparisons],
  data: [
    'equals',
    'notEquals',
    'in',
    'notIn',
    'contains',
    'notContains',
    'startsWith',
    'endsWith',
    ...comparisons,
    'within',
    'olderThan',
    'exists',
    'notExists',
  ],
  event: ['triggered', 'notTriggered', 'triggeredWithin', 'notTriggeredWithin', 'triggeredOlderThan'],
  segment: ['memberOfSegment', 'notMemberOfSegment'],
};

export const units = ['minutes', 'hours', 'days', 'weeks', 'months'] as const;

const spans = new Set(['within', 'olderThan', 'triggeredWithin', 'notTriggeredWithin', 'triggeredOlderThan']);
const nothing = new Set(['exists', 'notExists', 'triggered', 'notTriggered', 'memberOfSegment', 'notMemberOfSegment']);

/** In workflows, `event.<key>` with an operator of values is a value of what started the execution. */
export function kindOf(field: string, operator = ''): FieldKind {
  if (field.startsWith('event.') && operator !== '' && !operatorsOf.event.includes(operator)) return 'data';
  if (field === 'email' || field === 'subscribed') return field;
  if (field === 'createdAt' || field === 'updatedAt') return 'date';
  if (field.startsWith('data.') || field.startsWith('data[')) return 'data';
  if (/^segment\.[0-9a-f-]{36}$/i.test(field)) return 'segment';
  return 'event';
}

export function inputOf(kind: FieldKind, operator: string): ValueInput {
  if (nothing.has(operator)) return 'none';
  if (spans.has(operator)) return 'span';
  if (operator === 'in' || operator === 'notIn') return 'list';
  if (kind === 'subscribed') return 'flag';
  if (kind === 'date') return 'date';
  if (kind === 'data' && (operator.endsWith('quals') || comparisons.includes(operator))) return 'scalar';
  return 'text';
}

export const newFilter = (field = 'email'): Filter =>
  withOperator({ field, operator: '' }, operatorsOf[kindOf(field)][0]);

/** Keeps the value where the new operator takes one of the same kind. */
export function withOperator(filter: Filter, operator = 'equals'): Filter {
  const kind = kindOf(filter.field, filter.operator);
  const input = inputOf(kind, operator);
  const base = { field: filter.field, operator };
  const keeps = filter.operator !== '' && inputOf(kind, filter.operator) === input;
  const count = kind === 'event' ? filter.count : undefined;
  switch (input) {
    case 'none':
      return { ...base, count };
    case 'span':
      return { ...base, value: keeps ? filter.value : 7, unit: keeps ? filter.unit : 'days', count };
    case 'list':
      return { ...base, value: Array.isArray(filter.value) ? filter.value : [] };
    case 'flag':
      return { ...base, value: typeof filter.value === 'boolean' ? filter.value : true };
    case 'date':
      return { ...base, value: typeof filter.value === 'string' ? filter.value : '' };
    default:
      return { ...base, value: keeps && !Array.isArray(filter.value) ? filter.value : '' };
  }
}

export const withField = (filter: Filter, field: string): Filter =>
  kindOf(field) === kindOf(filter.field, filter.operator) ? { ...filter, field } : newFilter(field);

export const newCondition = (): Condition => ({ logic: 'AND', groups: [{ filters: [newFilter()] }] });

/** Whether every filter has what its operator needs, so that the API can be asked. */
export const isComplete = ({ groups }: Condition): boolean =>
  groups.length > 0 &&
  groups.every(
    ({ filters, conditions }) =>
      (filters.length > 0 || conditions !== undefined) &&
      filters.every(isFilterComplete) &&
      (conditions === undefined || isComplete(conditions)),
  );

export function isFilterComplete({ field, operator, value }: Filter): boolean {
  if (field === '' || field === 'data.' || field === 'event.') return false;
  switch (inputOf(kindOf(field, operator), operator)) {
    case 'none':
      return true;
    case 'list':
      return Array.isArray(value) && value.length > 0;
    case 'span':
      return typeof value === 'number' && value > 0;
    case 'flag':
      return typeof value === 'boolean';
    default:
      return value !== '' && value !== undefined && value !== null;
  }
}

export const isCondition = (value: unknown): value is Condition =>
  typeof value === 'object' && value !== null && 'logic' in value && 'groups' in value;

/** The fields to choose from, in groups. */
export function fieldOptions(fields: string[], events: string[], segments: Segment[], used: string[]) {
  const { fieldGroups, fields: names, mailEvents } = t.segments;
  const data = fields.map(dataField);
  const eventFields = events.map((name) => `event.${name}`);
  const groups = [
    { group: fieldGroups.contact, items: Object.entries(names).map(([value, label]) => ({ value, label })) },
    { group: fieldGroups.data, items: data.map((value) => ({ value, label: fieldLabel(value) })) },
    {
      group: fieldGroups.events,
      items: [
        ...Object.entries(mailEvents).map(([value, label]) => ({ value, label })),
        ...eventFields.map((value) => ({ value, label: fieldLabel(value) })),
      ],
    },
    {
      group: fieldGroups.segments,
      items: segments.map(({ id, name }) => ({ value: `segment.${id}`, label: name })),
    },
  ];
  const known = new Set(groups.flatMap(({ items }) => items.map(({ value }) => value)));
  const others = [...new Set(used)].filter((field) => field !== '' && !known.has(field));
  return others.length === 0
    ? groups
    : [...groups, { group: '…', items: others.map((value) => ({ value, label: fieldLabel(value) })) }];
}

/** A key that is no plain word is written in brackets. */
const dataField = (name: string): string =>
  /^[\w-]+(\.[\w-]+)*$/.test(name) ? `data.${name}` : `data[${JSON.stringify(name)}]`;

export const fieldLabel = (field: string): string =>
  field
    .replace(/^data\./, '')
    .replace(/^data\["(.*)"\]$/, '$1')
    .replace(/^event\./, '');

/** The name of the field for the route of its values. */
export const fieldName = (field: string): string => (field.startsWith('data') ? fieldLabel(field) : field);
