// The condition tree as the builder edits it, and the operators of each kind of field.
import type { Condition as ApiCondition, Topic } from '../api/api-types.ts';
import type { Segment } from '../api/types.ts';
import { t } from '../texts/index.ts';

export interface Filter {
  field: string;
  operator: string;
  value?: unknown;
  unit?: string | undefined;
  count?: number | undefined;
  /** Tests of the data of an event. */
  where?: EventTest[] | undefined;
}

export interface EventTest {
  key: string;
  operator: string;
  value?: unknown;
  unit?: string | undefined;
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

export type FieldKind = 'email' | 'subscribed' | 'date' | 'data' | 'event' | 'segment' | 'topic';
/** The input that a value needs. */
export type ValueInput = 'text' | 'list' | 'flag' | 'date' | 'span' | 'days' | 'none' | 'scalar';
/** The type of a custom field. */
export type FieldType = 'string' | 'number' | 'boolean' | 'date';

const comparisons = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'];

const anniversaries = ['anniversaryWithin', 'anniversaryOlderThan'];

export const operatorsOf: Record<FieldKind, string[]> = {
  email: ['equals', 'notEquals', 'contains', 'notContains', 'startsWith', 'endsWith', 'in', 'notIn'],
  subscribed: ['equals', 'notEquals'],
  date: ['within', 'olderThan', ...anniversaries, 'equals', 'notEquals', ...comparisons],
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
    ...anniversaries,
    'exists',
    'notExists',
  ],
  event: ['triggered', 'notTriggered', 'triggeredWithin', 'notTriggeredWithin', 'triggeredOlderThan'],
  segment: ['memberOfSegment', 'notMemberOfSegment'],
  topic: ['subscribed', 'unsubscribed', 'pending', 'changedWithin', 'changedOlderThan'],
};

const ofAnyType = ['exists', 'notExists'];

/** The operators that make sense for values of a type. */
const operatorsOfType: Record<FieldType, string[]> = {
  string: ['equals', 'notEquals', 'contains', 'notContains', 'startsWith', 'endsWith', 'in', 'notIn', ...ofAnyType],
  number: ['equals', 'notEquals', ...comparisons, 'in', 'notIn', ...ofAnyType],
  boolean: ['equals', 'notEquals', ...ofAnyType],
  date: ['within', 'olderThan', ...anniversaries, 'equals', 'notEquals', ...comparisons, ...ofAnyType],
};

/** The operators to offer for a filter: those of its type, and the one that it has. */
export function operatorsFor(filter: Filter, type: FieldType | undefined, all = operatorsOf): string[] {
  const kind = kindOf(filter.field, filter.operator);
  const offered = all[kind];
  if (kind !== 'data' || type === undefined) return offered;
  const fitting = new Set([...operatorsOfType[type], filter.operator]);
  return offered.filter((operator) => fitting.has(operator));
}

/** Operators of the data of an event. */
export const testOperators: string[] = operatorsOf.data.filter((name) => !anniversaries.includes(name));

const durations = new Set(['within', 'olderThan', ...anniversaries]);

/** Operators of values of a contact, which need no clock. */
export const contactOperatorsOf = Object.fromEntries(
  Object.entries(operatorsOf).map(([kind, operators]) => [kind, operators.filter((name) => !durations.has(name))]),
) as Record<FieldKind, string[]>;

export const units = ['minutes', 'hours', 'days', 'weeks', 'months'] as const;

const spans = new Set([
  'within',
  'olderThan',
  'triggeredWithin',
  'notTriggeredWithin',
  'triggeredOlderThan',
  'changedWithin',
  'changedOlderThan',
]);
const nothing = new Set([
  'exists',
  'notExists',
  'triggered',
  'notTriggered',
  'memberOfSegment',
  'notMemberOfSegment',
  'subscribed',
  'unsubscribed',
  'pending',
]);

/** In workflows, `event.<key>` with an operator of values is a value of what started the execution. */
export function kindOf(field: string, operator = ''): FieldKind {
  if (field.startsWith('event.') && operator !== '' && !operatorsOf.event.includes(operator)) return 'data';
  if (field === 'email' || field === 'subscribed') return field;
  if (field === 'createdAt' || field === 'updatedAt') return 'date';
  if (field.startsWith('data.') || field.startsWith('data[')) return 'data';
  if (/^segment\.[0-9a-f-]{36}$/i.test(field)) return 'segment';
  if (/^topic\.[a-z0-9-]{1,50}$/i.test(field) && !operatorsOf.event.includes(operator)) return 'topic';
  return 'event';
}

export function inputOf(kind: FieldKind, operator: string): ValueInput {
  if (nothing.has(operator)) return 'none';
  if (spans.has(operator)) return 'span';
  if (anniversaries.includes(operator)) return 'days';
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
  const where = kind === 'event' ? filter.where : undefined;
  switch (input) {
    case 'none':
      return { ...base, count, where };
    case 'span':
      return { ...base, value: keeps ? filter.value : 7, unit: keeps ? filter.unit : 'days', count, where };
    case 'days':
      return { ...base, value: keeps ? filter.value : 7, unit: 'days' };
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

export function withField(filter: Filter, field: string, type?: FieldType, all = operatorsOf): Filter {
  const next = kindOf(field) === kindOf(filter.field, filter.operator) ? { ...filter, field } : newFilter(field);
  const offered = operatorsFor({ ...next, operator: '' }, type, all);
  return offered.includes(next.operator) ? next : withOperator(next, offered[0]);
}

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

/** As a filter on a field of the event. */
export const isTestComplete = ({ key, ...test }: EventTest): boolean =>
  key.trim() !== '' && isFilterComplete({ field: `data[${JSON.stringify(key)}]`, ...test });

export function isFilterComplete({ field, operator, value, where = [] }: Filter): boolean {
  if (field === '' || field === 'data.' || field === 'event.') return false;
  if (!where.every(isTestComplete)) return false;
  switch (inputOf(kindOf(field, operator), operator)) {
    case 'none':
      return true;
    case 'list':
      return Array.isArray(value) && value.length > 0;
    case 'span':
      return typeof value === 'number' && value > 0;
    case 'days':
      return typeof value === 'number' && value >= 0 && value <= 366;
    case 'flag':
      return typeof value === 'boolean';
    default:
      return value !== '' && value !== undefined && value !== null;
  }
}

export const isCondition = (value: unknown): value is Condition =>
  typeof value === 'object' && value !== null && 'logic' in value && 'groups' in value;

interface KnownFields {
  /** Custom ones. */
  fields: string[];
  events: string[];
  segments: Segment[];
  topics: Pick<Topic, 'key' | 'name'>[];
  /** Of the condition itself. */
  used: string[];
}

/** The fields to choose from, in groups. */
export function fieldOptions({ fields, events, segments, topics, used }: KnownFields) {
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
    {
      group: t.conditionTexts.topics,
      items: topics.map(({ key, name }) => ({ value: `topic.${key}`, label: name })),
    },
  ];
  const known = new Set(groups.flatMap(({ items }) => items.map(({ value }) => value)));
  const others = [...new Set(used)].filter((field) => field !== '' && !known.has(field));
  return others.length === 0
    ? groups
    : [...groups, { group: '…', items: others.map((value) => ({ value, label: fieldLabel(value) })) }];
}

/** The fields of contacts that emails can decide by. */
export function contactFieldOptions(fields: string[], used: string[]) {
  const { fieldGroups, fields: names } = t.segments;
  const data = [...new Set([...fields.map(dataField), ...used.filter((field) => kindOf(field) === 'data')])];
  const contact = (['email', 'subscribed'] as const).map((value) => ({ value, label: names[value] }));
  return [
    { group: fieldGroups.contact, items: contact },
    { group: fieldGroups.data, items: data.map((value) => ({ value, label: fieldLabel(value) })) },
  ];
}

/** A key that is no plain word is written in brackets. */
export const dataField = (name: string): string =>
  /^[\w-]+(\.[\w-]+)*$/.test(name) ? `data.${name}` : `data[${JSON.stringify(name)}]`;

export const operatorLabel = (operator: string): string => {
  if (operator === 'anniversaryWithin' || operator === 'anniversaryOlderThan') return t.conditionTexts[operator];
  return t.segments.operators[operator] ?? t.conditionTexts.topicOperators[operator] ?? operator;
};

export const fieldLabel = (field: string): string =>
  field
    .replace(/^data\./, '')
    .replace(/^data\["(.*)"\]$/, '$1')
    .replace(/^event\./, '');

/** The name of the field for the route of its values. */
export const fieldName = (field: string): string => (field.startsWith('data') ? fieldLabel(field) : field);
