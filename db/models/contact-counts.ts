import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';

// How many contacts there are and which keys they have, exactly and without looking at them: triggers note what every
// write changes in contact_count_deltas, and `foldCounts` adds the notes up now and then. A reader adds up the rest, all
// in one snapshot. See docs/decisions/010-counting-contacts.md.

export interface ContactCounts {
  contacts: number;
  subscribed: number;
  /** Notes that are still to be folded. */
  pending: number;
}

export const fieldTypes = ['number', 'boolean', 'date', 'string'] as const;
export type FieldType = (typeof fieldTypes)[number];

export interface FieldCount {
  key: string;
  type: FieldType;
  contacts: number;
}

const counts = statement<{ contacts: string; subscribed: string; pending: string }>(
  'contact-counts',
  `select coalesce(sum(contacts), 0) as contacts, coalesce(sum(subscribed), 0) as subscribed,
     count(*) filter (where is_note) as pending
   from (
     select contacts, subscribed, false as is_note from contact_counts where project_id = $1
     union all
     select contacts, subscribed, true from contact_count_deltas where project_id = $1
   ) parts`,
);

export async function readCounts(db: Db, projectId: string): Promise<ContactCounts> {
  const [row] = await counts(db, [projectId]);
  return { contacts: Number(row?.contacts), subscribed: Number(row?.subscribed), pending: Number(row?.pending) };
}

/** Keys that came and went, one row each. A type counts from the first time that the key came. */
const movesOf = (notes: string): string => `
  select ${notes}.project_id, gained.key, gained.type, 1 as by, ${notes}.at
  from ${notes}, jsonb_each_text(${notes}.gained) as gained (key, type)
  union all
  select ${notes}.project_id, lost.key, null, -1, ${notes}.at
  from ${notes}, jsonb_array_elements_text(${notes}.lost) as lost (key)`;

const FIRST_TYPE = '(array_agg(type order by at) filter (where type is not null))[1]';

const fields = statement<{ key: string; type: FieldType; contacts: string; pending: string }>(
  'contact-fields',
  `with notes as materialized (
     select project_id, gained, lost, at from contact_count_deltas where project_id = $1
   ),
   recent as (select key, sum(by) as by, ${FIRST_TYPE} as type from (${movesOf('notes')}) moves group by key),
   known as (select key, type, contacts from contact_fields where project_id = $1)
   select key, coalesce(known.type, recent.type, 'string') as type,
     coalesce(known.contacts, 0) + coalesce(recent.by, 0) as contacts, (select count(*) from notes) as pending
   from known full join recent using (key)
   where $3::text is null or key = $3
   order by 3 desc, key limit $2`,
);

/** The keys in use, the most common ones first; or the one that is asked for. */
export async function readFields(
  db: Db,
  projectId: string,
  { limit, key }: { limit: number; key?: string },
): Promise<{ fields: FieldCount[]; pending: number }> {
  const rows = await fields(db, [projectId, limit, key ?? null]);
  return {
    fields: rows.map(({ key, type, contacts }) => ({ key, type, contacts: Number(contacts) })),
    pending: Number(rows[0]?.pending ?? 0),
  };
}

const FOLD_LOCK = 0x636e7473; // "cnts"

// One at a time, so that the first type that was noted is the one that stays.
const foldText = (condition: string): string => `
   with turn as materialized (select pg_try_advisory_xact_lock(${FOLD_LOCK}) as mine),
   notes as (
     delete from contact_count_deltas where ctid = any (array(
       select d.ctid from contact_count_deltas d
       where (select mine from turn) and ${condition}
       order by d.project_id, d.at limit $1 for update))
     returning *
   ),
   moves as materialized (${movesOf('notes')}),
   counted as (
     insert into contact_counts as c (project_id, contacts, subscribed)
     select project_id, sum(contacts), sum(subscribed) from notes group by project_id order by project_id
     on conflict (project_id) do update
       set contacts = c.contacts + excluded.contacts, subscribed = c.subscribed + excluded.subscribed
   ),
   typed as (
     insert into contact_fields as f (project_id, key, type, contacts)
     select project_id, key, coalesce(${FIRST_TYPE}, 'string'), sum(by) from moves group by project_id, key
     order by project_id, key
     on conflict (project_id, key) do update set contacts = f.contacts + excluded.contacts
   )
   select count(*)::integer as folded from notes`;

const foldAny = statement<{ folded: number }>('contact-counts-fold', foldText('true'));
const foldOne = statement<{ folded: number }>('contact-counts-fold-one', foldText('d.project_id = $2'));

/** Adds up to `limit` notes up, the oldest first. 0: there are none, or somebody else is at it. */
export async function foldCounts(db: Db, limit: number, projectId?: string): Promise<number> {
  const [row] = await (projectId ? foldOne(db, [limit, projectId]) : foldAny(db, [limit]));
  return row?.folded ?? 0;
}

const ALL = 2_000_000_000;

/** The project's notes all folded, and nobody folding any until the end of the transaction. */
export async function aggregateAllContactCounts(trx: Db, projectId: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(?)', [FOLD_LOCK]);
  await foldOne(trx, [ALL, projectId]);
}
