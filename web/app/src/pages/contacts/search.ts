import { compact, flagOf, oneOf, type RawSearch, textOf } from '../../search-params.ts';

export interface ContactsSearch {
  search?: string | undefined;
  /** A part of the address or of a name. */
  query?: string | undefined;
  /** The job of an import. */
  importId?: string | undefined;
  subscribed?: boolean | undefined;
  sort?: 'createdAt' | 'email' | undefined;
  dir?: 'asc' | 'desc' | undefined;
  /** Values by field of `data`. */
  fields?: Record<string, string> | undefined;
}

function fieldsOf(value: unknown): Record<string, string> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const entries = Object.entries(value).flatMap(([name, wanted]) => {
    const found = textOf(wanted);
    return found === undefined ? [] : [[name, found] as const];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

export const contactsSearch = (raw: RawSearch): ContactsSearch =>
  compact({
    search: textOf(raw.search),
    query: textOf(raw.query),
    importId: textOf(raw.importId),
    subscribed: flagOf(raw.subscribed),
    sort: oneOf(raw.sort, 'createdAt', 'email'),
    dir: oneOf(raw.dir, 'asc', 'desc'),
    fields: fieldsOf(raw.fields),
  });

export const importContactsSearch = (raw: RawSearch): { job?: string | undefined } => compact({ job: textOf(raw.job) });
