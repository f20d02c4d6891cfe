import { compact, oneOf, type RawSearch, textOf } from '../../search-params.ts';

export interface EventsSearch {
  tab?: 'events' | 'fields' | undefined;
  search?: string | undefined;
  kind?: 'own' | 'reserved' | undefined;
}

export const eventsSearch = (raw: RawSearch): EventsSearch =>
  compact({
    tab: oneOf(raw.tab, 'events', 'fields'),
    search: textOf(raw.search),
    kind: oneOf(raw.kind, 'own', 'reserved'),
  });
