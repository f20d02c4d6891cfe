import { newId } from '../../platform/ids.ts';

/** A contact to be created or changed, found by its address. */
export interface ContactWrite {
  email: string;
  /** Left out: an existing contact keeps its state, a new one gets `subscribedWhenNew`. */
  subscribed?: boolean | undefined;
  subscribedWhenNew: boolean;
  patch: Record<string, unknown>;
  deletes: string[];
  /** Stored only where the contact has no such key. */
  defaults?: Record<string, unknown>;
}

/**
 * Writes contacts as a part of a statement that goes on from there, by the database's `write_contact`. It expects a CTE
 * `project (id)`, which is empty when the caller may not write, and its eight parameters from `$first` on
 * (`contactValues`). It gives the CTE `contact (email, id, subscribed, is_new, is_changed)`, one row per address, all of
 * which the rest of the statement must read: what it does not read is not written.
 */
export const contactCtes = (first: number): string => `
  contact as materialized (
    select given.email, written.*
    from project, unnest(
      $${first}::text[], $${first + 1}::uuid[], $${first + 2}::boolean[], $${first + 3}::boolean[],
      $${first + 4}::jsonb[], $${first + 5}::jsonb[], $${first + 6}::jsonb[], $${first + 7}::uuid[]
    ) as given (email, id, subscribed, subscribed_when_new, patch, deletes, defaults, event_id),
    write_contact(project.id, given.email, given.id, given.subscribed, given.subscribed_when_new,
      given.patch, given.deletes, given.defaults, given.event_id) as written
  )`;

/** The parameters of `contactCtes`. Sorted by address: whoever writes several locks them in the same order. */
export function contactValues(writes: ContactWrite[]): unknown[] {
  const sorted = [...writes].sort((a, b) => (a.email < b.email ? -1 : 1));
  return [
    sorted.map((write) => write.email),
    sorted.map(() => newId()),
    sorted.map((write) => write.subscribed ?? null),
    sorted.map((write) => write.subscribedWhenNew),
    sorted.map((write) => JSON.stringify(write.patch)),
    sorted.map((write) => JSON.stringify(write.deletes)),
    sorted.map((write) => JSON.stringify(write.defaults ?? {})),
    sorted.map(() => newId()),
  ];
}
