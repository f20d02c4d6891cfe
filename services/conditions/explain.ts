import type { Condition, Group, Subject } from './types.ts';

/** What one filter of a tree answered. */
export interface FilterAnswer {
  /** Where it stands: `groups.0.filters.1`. */
  path: string;
  matched: boolean;
  /** Whether the answer of the whole hangs on it. */
  decisive: boolean;
}

interface Answer {
  holds: boolean;
  filters: FilterAnswer[];
}

/** The answer of a condition with those of all its filters, for somebody who wonders why. Agrees with `decides`. */
export function explain(condition: Condition, subject: Subject, at = ''): Answer {
  const groups = condition.groups.map((group, n) => explainGroup(group, subject, `${at}groups.${n}`));
  const isAnd = condition.logic === 'AND';
  const holds = isAnd ? groups.every((group) => group.holds) : groups.some((group) => group.holds);
  return { holds, filters: together(groups, holds, isAnd) };
}

/** All that its filters say must be true, and so must what is nested in it. */
function explainGroup({ filters, condition }: Group, subject: Subject, at: string): Answer {
  const parts: Answer[] = filters.map((filter, n) => {
    const matched = filter.decide(subject);
    return { holds: matched, filters: [{ path: `${at}.filters.${n}`, matched, decisive: true }] };
  });
  if (condition) parts.push(explain(condition, subject, `${at}.conditions.`));
  const holds = parts.every((part) => part.holds);
  return { holds, filters: together(parts, holds, true) };
}

/**
 * Where all must hold, the first that does not decides, and else they do together; where one is enough, the first that
 * holds decides, and else none of them did.
 */
function together(parts: Answer[], holds: boolean, all: boolean): FilterAnswer[] {
  const first = all === holds ? undefined : parts.find((part) => part.holds === holds);
  return parts.flatMap((part) =>
    first && part !== first ? part.filters.map((filter) => ({ ...filter, decisive: false })) : part.filters,
  );
}
