import { compact, type RawSearch, textOf } from '../../search-params.ts';

export interface FormSearch {
  tab?: string | undefined;
  /** Of the submissions. */
  status?: string | undefined;
}

export const formSearch = (raw: RawSearch): FormSearch => compact({ tab: textOf(raw.tab), status: textOf(raw.status) });
