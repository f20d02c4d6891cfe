import type { Filter } from './filter.ts';
import { listFilters } from './list-filters.ts';
import { FALLBACK } from './parser.ts';
import { textFilters } from './text-filters.ts';
import { valueFilters } from './value-filters.ts';

/** The filters of nunjucks, and the one for `??`. */
export const filters = new Map<string, Filter>(
  Object.entries({
    ...textFilters,
    ...listFilters,
    ...valueFilters,
    [FALLBACK]: { parameters: [], apply: (value: unknown, [fallback]: unknown[]) => value ?? fallback },
  }),
);
