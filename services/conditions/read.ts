import { type Fragment, joined, sql } from './fragment.ts';
import type { Circumstances, Condition, Group, Predicate, Question, Subject } from './types.ts';

// The two readers of a condition. What a filter means to each stands with its operator.

/** True (and else false or null) for the contacts under the alias `c` that match. */
export function toSql(condition: Condition, question: Question): Fragment {
  const groups = condition.groups.map((group) => groupSql(group, question));
  return sql`(${joined(groups, condition.logic === 'AND' ? ' and ' : ' or ')})`;
}

function groupSql({ filters, condition }: Group, question: Question): Fragment {
  const parts = filters.map((filter) => filter.sql(question));
  if (condition) parts.push(toSql(condition, question));
  return sql`(${joined(parts, ' and ')})`;
}

export function decides(condition: Condition, subject: Subject): boolean {
  const holds = ({ filters, condition: nested }: Group) =>
    filters.every((filter) => filter.decide(subject)) && (!nested || decides(nested, subject));
  return condition.logic === 'AND' ? condition.groups.every(holds) : condition.groups.some(holds);
}

/** Every filter that is asked, also through references to segments, each of which is gone through once. */
export function filtersOf(condition: Condition, segments: Circumstances['segments']): Predicate[] {
  const referenced = [...segments.values()].map((segment) => segment.condition);
  return [condition, ...referenced].flatMap((one) => (one ? ownFilters(one) : []));
}

const groupFilters = ({ filters, condition }: Group): Predicate[] => [
  ...filters,
  ...(condition ? ownFilters(condition) : []),
];

const ownFilters = ({ groups }: Condition): Predicate[] => groups.flatMap(groupFilters);
