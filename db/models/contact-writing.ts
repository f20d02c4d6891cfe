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
 * A call of the database's `write_contact`, the one way in which contacts are written, for the contact in the eight
 * parameters from `$first` on (`contactValues`). Gives `(id, subscribed, is_new, is_changed)`.
 */
export const writeContact = (projectId: string, first: number): string =>
  `write_contact(${projectId}, $${first}::text, $${first + 1}::uuid, $${first + 2}::boolean, $${first + 3}::boolean,
     $${first + 4}::jsonb, $${first + 5}::jsonb, $${first + 6}::jsonb, $${first + 7}::uuid)`;

/**
 * The same for many, as a CTE `contact (email, id, subscribed, is_new, is_changed)` whose parameters are arrays
 * (`contactArrays`). It expects a CTE `project (id)`, which is empty when the caller may not write. The rest of the
 * statement must read all of it: what is not read is not written. New contacts are inserted all at once, which is
 * cheaper than a call each; the calls are for those that are there.
 */
export const writeContacts = (first: number): string => `
  given as materialized (
    select given.* from project, unnest(
      $${first}::text[], $${first + 1}::uuid[], $${first + 2}::boolean[], $${first + 3}::boolean[],
      $${first + 4}::jsonb[], $${first + 5}::jsonb[], $${first + 6}::jsonb[], $${first + 7}::uuid[]
    ) as given (email, id, subscribed, subscribed_when_new, patch, deletes, defaults, event_id)
  ),
  added as (
    insert into contacts (id, project_id, email, subscribed, data)
    select given.id, project.id, email, coalesce(subscribed, subscribed_when_new), defaults || patch
    from project, given
    on conflict (project_id, email) do nothing
    returning email, id, subscribed
  ),
  contact as materialized (
    select email, id, subscribed, true as is_new, true as is_changed from added
    union all
    select given.email, written.*
    from project, given,
    write_contact(project.id, given.email, given.id, given.subscribed, given.subscribed_when_new,
      given.patch, given.deletes, given.defaults, given.event_id) as written
    where given.email not in (select email from added)
  )`;

/** In the order of the parameters of `write_contact`, behind the project. */
export const contactValues = (write: ContactWrite): unknown[] => [
  write.email,
  newId(),
  write.subscribed ?? null,
  write.subscribedWhenNew,
  JSON.stringify(write.patch),
  JSON.stringify(write.deletes),
  JSON.stringify(write.defaults ?? {}),
  newId(),
];

/** The same as columns. Sorted by address: whoever writes several locks them in the same order. */
export function contactArrays(writes: ContactWrite[]): unknown[][] {
  const rows = [...writes].sort((a, b) => (a.email < b.email ? -1 : 1)).map(contactValues);
  return Array.from({ length: 8 }, (_, column) => rows.map((row) => row[column]));
}
