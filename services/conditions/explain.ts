import type { Condition, Group, Subject } from './types.ts';

/** The result of one filter of a condition tree. */
export interface FilterResult {
  /** Its path in the tree: `groups.0.filters.1`. */
  path: string;
  matched: boolean;
  /** Whether it decides the result of the whole condition. */
  decisive: boolean;
}

export interface Explanation {
  holds: boolean;
  filters: FilterResult[];
}

/** Evaluates a condition like `decides`, with the result of each filter. */
export function explain(condition: Condition, subject: Subject, at = ''): Explanation {
  const groups = condition.groups.map((group, n) => explainGroup(group, subject, `${at}groups.${n}`));
  const isAnd = condition.logic === 'AND';
  const holds = isAnd ? groups.every((group) => group.holds) : groups.some((group) => group.holds);
  return { holds, filters: mergeFilters(groups, holds, isAnd) };
}

/** A group matches when all its filters and its nested condition match. */
function explainGroup({ filters, condition }: Group, subject: Subject, at: string): Explanation {
  const parts: Explanation[] = filters.map((filter, n) => {
    const matched = filter.evaluate(subject);
    return { holds: matched, filters: [{ path: `${at}.filters.${n}`, matched, decisive: true }] };
  });
  if (condition) parts.push(explain(condition, subject, `${at}.conditions.`));
  const holds = parts.every((part) => part.holds);
  return { holds, filters: mergeFilters(parts, holds, true) };
}

/**
 * Merges the filters of all parts and marks the decisive ones. With AND, the first part that fails is decisive; with OR,
 * the first that matches. Without such a part all are.
 */
function mergeFilters(parts: Explanation[], holds: boolean, all: boolean): FilterResult[] {
  const decisivePart = all === holds ? undefined : parts.find((part) => part.holds === holds);
  return parts.flatMap((part) =>
    decisivePart && part !== decisivePart
      ? part.filters.map((filter) => ({ ...filter, decisive: false }))
      : part.filters,
  );
}
