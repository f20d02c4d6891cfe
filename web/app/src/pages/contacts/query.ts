import type { ContactsSearch } from './search.ts';

/** Filters on fields are query parameters of their own: `data.plan=pro`. */
export function contactsQuery({ fields = {}, ...search }: ContactsSearch, cursor: string | undefined) {
  const filters: Record<`data.${string}`, string> = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [`data.${name}`, value]),
  );
  return { ...search, ...filters, cursor };
}
