import { addressFilters } from './address-filters.ts';
import { conditionFilters } from './condition-filters.ts';
import type { Filter } from './filter.ts';
import { listFilters } from './list-filters.ts';
import { localFilters } from './local-filters.ts';
import { FALLBACK } from './parser.ts';
import { textFilters } from './text-filters.ts';
import { valueFilters } from './value-filters.ts';

/** The filters of nunjucks, those of the editor's emails, and the one for `??`. */
export const filters = new Map<string, Filter>(
  Object.entries({
    ...textFilters,
    ...listFilters,
    ...valueFilters,
    ...localFilters,
    ...conditionFilters,
    ...addressFilters,
    [FALLBACK]: { parameters: [], apply: (value: unknown, [fallback]: unknown[]) => value ?? fallback },
  }),
);
