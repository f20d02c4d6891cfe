import { type Fragment, joined, sql } from '../../db/sql.ts';
import type { Condition, ConditionQuery, EvaluationContext, Group, Predicate, Subject } from './types.ts';

// Evaluates conditions as SQL and in memory. Operators define both for their filters.

/** SQL that is true for contacts with the alias `c` that match, and false or null otherwise. */
export function toSql(condition: Condition, query: ConditionQuery): Fragment {
  const groups = condition.groups.map((group) => groupSql(group, query));
  return sql`(${joined(groups, condition.logic === 'AND' ? ' and ' : ' or ')})`;
}

function groupSql({ filters, condition }: Group, query: ConditionQuery): Fragment {
  const parts = filters.map((filter) => filter.sql(query));
  if (condition) parts.push(toSql(condition, query));
  return sql`(${joined(parts, ' and ')})`;
}

export function decides(condition: Condition, subject: Subject): boolean {
  const groupMatches = ({ filters, condition: nested }: Group) =>
    filters.every((filter) => filter.evaluate(subject)) && (!nested || decides(nested, subject));
  return condition.logic === 'AND' ? condition.groups.every(groupMatches) : condition.groups.some(groupMatches);
}

/** Returns all filters of a condition and of the segments that it refers to, each segment once. */
export function filtersOf(condition: Condition, segments: EvaluationContext['segments']): Predicate[] {
  const referenced = [...segments.values()].map((segment) => segment.condition);
  return [condition, ...referenced].flatMap((tree) => (tree ? ownFilters(tree) : []));
}

const groupFilters = ({ filters, condition }: Group): Predicate[] => [
  ...filters,
  ...(condition ? ownFilters(condition) : []),
];

const ownFilters = ({ groups }: Condition): Predicate[] => groups.flatMap(groupFilters);
