import { newId } from '../../platform/ids.ts';

/** A contact to be created or changed, found by its address. */
export interface ContactWrite {
  email: string;
  /** Undefined: an existing contact keeps its state, a new one gets `subscribedWhenNew`. */
  subscribed?: boolean | undefined;
  subscribedWhenNew: boolean;
  patch: Record<string, unknown>;
  deletes: string[];
  /** JSON: the data of the event of a changed subscription. */
  eventData?: string | undefined;
  /** Stored only where the contact has no such key. */
  defaults?: Record<string, unknown>;
}

/**
 * SQL: a call of `write_contact` with the nine parameters from `$first` on (`contactValues`). Returns one row
 * `(id, subscribed, is_new, is_changed)`.
 */
export const writeContactSql = (projectId: string, first: number): string =>
  `write_contact(${projectId}, $${first}::text, $${first + 1}::uuid, $${first + 2}::boolean, $${first + 3}::boolean,
     $${first + 4}::jsonb, $${first + 5}::jsonb, $${first + 6}::jsonb, $${first + 7}::uuid, $${first + 8}::jsonb)`;

/**
 * SQL: the same for many contacts, as a CTE `contact (email, id, subscribed, is_new, is_changed)` with arrays as parameters
 * (`contactArrays`). Expects a CTE `project (id)`, which is empty when the caller may not write. The statement must read all
 * rows of `contact`: Postgres does not write what is not read. Inserts new contacts at once, which is cheaper than a call
 * each, and calls `write_contact` for existing ones.
 */
export const writeContactsSql = (first: number): string => `
  given as materialized (
    select given.* from project, unnest(
      $${first}::text[], $${first + 1}::uuid[], $${first + 2}::boolean[], $${first + 3}::boolean[],
      $${first + 4}::jsonb[], $${first + 5}::jsonb[], $${first + 6}::jsonb[], $${first + 7}::uuid[], $${first + 8}::jsonb[]
    ) as given (email, id, subscribed, subscribed_when_new, patch, deletes, defaults, event_id, event_data)
  ),
  added as (
    insert into contacts (id, project_id, email, subscribed, data)
    select given.id, project.id, email, case when subscribed is null and subscribed_when_new then not has_left_all(project.id, email)
        else coalesce(subscribed, subscribed_when_new) end, defaults || patch
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
      given.patch, given.deletes, given.defaults, given.event_id, given.event_data) as written
    where given.email not in (select email from added)
  )`;

/** The parameters of `write_contact` after the project. */
export const contactValues = (write: ContactWrite): unknown[] => [
  write.email,
  newId(),
  write.subscribed ?? null,
  write.subscribedWhenNew,
  JSON.stringify(write.patch),
  JSON.stringify(write.deletes),
  JSON.stringify(write.defaults ?? {}),
  newId(),
  write.eventData ?? '{}',
];

/** The same as arrays, sorted by address: all writers lock contacts in this order, which prevents deadlocks. */
export function contactArrays(writes: ContactWrite[]): unknown[][] {
  const rows = [...writes].sort((a, b) => (a.email < b.email ? -1 : 1)).map(contactValues);
  return Array.from({ length: 9 }, (_, column) => rows.map((row) => row[column]));
}
