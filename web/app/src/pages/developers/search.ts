import { type AddSearch, addSearch, compact, oneOf, type RawSearch, textOf } from '../../search-params.ts';

export interface DevelopersSearch extends AddSearch {
  tab?: 'keys' | 'examples' | 'policy' | 'requests' | undefined;
  /** Of logged requests. */
  status?: number | undefined;
  route?: string | undefined;
  /** Requests that succeeded instead. */
  successful?: true | undefined;
}

const statusOf = (value: unknown): number | undefined => {
  const status = Number(value);
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined;
};

export const developersSearch = (raw: RawSearch): DevelopersSearch =>
  compact({
    tab: oneOf(raw.tab, 'keys', 'examples', 'policy', 'requests'),
    status: statusOf(raw.status),
    route: textOf(raw.route),
    successful: raw.successful === true || raw.successful === 'true' ? true : undefined,
    ...addSearch(raw),
  });
