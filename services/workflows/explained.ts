import type { FilterResult } from '../conditions/explain.ts';
import type { Data } from '../contacts/data.ts';

interface Filter {
  field: string | null;
  operator: string | null;
  value: unknown;
  unit?: unknown;
  count?: unknown;
}

/** A filter of the condition with its result. */
export type ExplainedFilter = Filter & FilterResult;

/** Characters of a value in the reason; `filters` has all of it. */
const MAX_VALUE = 200;

export const explainFilters = (config: Data, answers: FilterResult[]): ExplainedFilter[] =>
  answers.map((answer) => ({ ...filterAt(config, answer.path), ...answer }));

/** Returns the filter at a path of the condition. A config without groups is itself a filter. */
function filterAt(config: Data, path: string): Filter {
  const found = 'groups' in config ? path.split('.').reduce<unknown>((at, key) => (at as Data)[key], config) : config;
  const { field = null, operator = null, value = null, unit, count } = found as Partial<Filter>;
  return { field, operator, value, ...(unit !== undefined && { unit }), ...(count !== undefined && { count }) };
}

/** Describes the filters that decided a condition. */
export function conditionReason(filters: ExplainedFilter[]): string | null {
  const decisive = filters.filter((filter) => filter.decisive);
  if (decisive.length === 0) return null;
  return decisive
    .map(({ field, operator, value, matched }) => {
      const said = [field, operator, value === null ? undefined : inWords(value)].filter(Boolean).join(' ');
      return `${said} ${matched ? 'is true' : 'is false'}`;
    })
    .join('; ');
}

function inWords(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
