import type { Suppression } from '../../api/types.ts';
import { type AddSearch, addSearch, compact, oneOf, type RawSearch, textOf } from '../../search-params.ts';

export const suppressionReasons = ['HARD_BOUNCE', 'COMPLAINT', 'MANUAL'] as const satisfies Suppression['reason'][];

export interface SuppressionsSearch extends AddSearch {
  search?: string | undefined;
  reason?: Suppression['reason'] | undefined;
}

export const suppressionsSearch = (raw: RawSearch): SuppressionsSearch =>
  compact({ search: textOf(raw.search), reason: oneOf(raw.reason, ...suppressionReasons), ...addSearch(raw) });
