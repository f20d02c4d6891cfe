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
 * The one way in which contacts are written, as a part of a statement that goes on from there. It expects a CTE
 * `project (id)`, which is empty when the caller may not write, and its eight parameters from `$first` on
 * (`contactValues`). It gives:
 * - `given`: what was asked for, one row per address;
 * - `contact (id, email, subscribed, is_new)`: one row per contact written, each locked until the end of the
 *   transaction, so that whatever is recorded of a contact is recorded in order.
 * A change of subscription is announced by an event. An address that another transaction creates at this very moment is
 * in neither; the caller runs the statement again for it.
 */
export const contactCtes = (first: number): string => `
  given as materialized (
    select * from unnest(
      $${first}::text[], $${first + 1}::uuid[], $${first + 2}::boolean[], $${first + 3}::boolean[],
      $${first + 4}::jsonb[], $${first + 5}::jsonb[], $${first + 6}::jsonb[], $${first + 7}::uuid[]
    ) as given (email, id, subscribed, subscribed_when_new, patch, deletes, defaults, event_id)
  ),
  known as materialized (
    select c.id, c.email, c.subscribed, c.data
    from project, contacts c
    where c.project_id = project.id and c.email = any ($${first}::text[])
    order by c.id
    for update of c
  ),
  wanted as materialized (
    select k.id, k.email, k.subscribed as before, k.data as data_before,
      coalesce(g.subscribed, k.subscribed) as subscribed,
      g.defaults || (k.data - array(select jsonb_array_elements_text(g.deletes))) || g.patch as data
    from known k join given g using (email)
  ),
  changed as (
    update contacts c set subscribed = w.subscribed, data = w.data, updated_at = now()
    from wanted w
    where c.id = w.id and (w.subscribed <> w.before or w.data <> w.data_before)
  ),
  added as (
    insert into contacts (id, project_id, email, subscribed, data)
    select g.id, project.id, g.email, coalesce(g.subscribed, g.subscribed_when_new), g.defaults || g.patch
    from project, given g
    where not exists (select 1 from known k where k.email = g.email)
    on conflict (project_id, email) do nothing
    returning id, email, subscribed
  ),
  contact as (
    select id, email, subscribed, before, false as is_new from wanted
    union all
    select id, email, subscribed, subscribed, true from added
  ),
  announced as (
    insert into events (id, project_id, contact_id, name)
    select g.event_id, project.id, contact.id,
      case when contact.subscribed then 'contact.subscribed' else 'contact.unsubscribed' end
    from project, contact join given g using (email)
    where contact.subscribed <> contact.before
  )`;

/** The parameters of `contactCtes`. Sorted by address: whoever creates several at once does it in the same order. */
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
