import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';

// Counts contacts and their keys, exactly and without reading them: triggers append what every write changes to
// contact_count_deltas, and `aggregateContactDeltas` aggregates the deltas. Readers add the deltas that are left, in one
// snapshot. See docs/decisions/contact-lists.md.

export interface ContactCounts {
  contacts: number;
  subscribed: number;
  /** Deltas that are not aggregated yet. */
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
     count(*) filter (where is_delta) as pending
   from (
     select contacts, subscribed, false as is_delta from contact_counts where project_id = $1
     union all
     select contacts, subscribed, true from contact_count_deltas where project_id = $1
   ) parts`,
);

export async function readContactCounts(db: Db, projectId: string): Promise<ContactCounts> {
  const [row] = await counts(db, [projectId]);
  return { contacts: Number(row?.contacts), subscribed: Number(row?.subscribed), pending: Number(row?.pending) };
}

/** One row for each key that a delta added to or removed from a contact. Only added keys have a type. */
const keyChangesOf = (deltas: string): string => `
  select ${deltas}.project_id, gained.key, gained.type, 1 as by, ${deltas}.at
  from ${deltas}, jsonb_each_text(${deltas}.gained) as gained (key, type)
  union all
  select ${deltas}.project_id, lost.key, null, -1, ${deltas}.at
  from ${deltas}, jsonb_array_elements_text(${deltas}.lost) as lost (key)`;

const FIRST_TYPE = '(array_agg(type order by at) filter (where type is not null))[1]';

const fields = statement<{ key: string; type: FieldType; contacts: string; pending: string }>(
  'contact-fields',
  `with deltas as materialized (
     select project_id, gained, lost, at from contact_count_deltas where project_id = $1
   ),
   recent as (select key, sum(by) as by, ${FIRST_TYPE} as type from (${keyChangesOf('deltas')}) changes group by key),
   known as (select key, type, contacts from contact_fields where project_id = $1)
   select key, coalesce(known.type, recent.type, 'string') as type,
     coalesce(known.contacts, 0) + coalesce(recent.by, 0) as contacts, (select count(*) from deltas) as pending
   from known full join recent using (key)
   where $3::text is null or key = $3
   order by 3 desc, key limit $2`,
);

/** Returns the keys in use, the most common first, or only `key`. */
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

const AGGREGATION_LOCK = 0x636e7473; // "cnts"

// One process at a time and the oldest first, so that a key keeps the type of its first value.
const aggregateText = (condition: string): string => `
   with aggregation_lock as materialized (select pg_try_advisory_xact_lock(${AGGREGATION_LOCK}) as locked),
   deltas as (
     delete from contact_count_deltas where ctid = any (array(
       select d.ctid from contact_count_deltas d
       where (select locked from aggregation_lock) and ${condition}
       order by d.project_id, d.at limit $1 for update))
     returning *
   ),
   changes as materialized (${keyChangesOf('deltas')}),
   counted as (
     insert into contact_counts as c (project_id, contacts, subscribed)
     select project_id, sum(contacts), sum(subscribed) from deltas group by project_id order by project_id
     on conflict (project_id) do update
       set contacts = c.contacts + excluded.contacts, subscribed = c.subscribed + excluded.subscribed
   ),
   typed as (
     insert into contact_fields as f (project_id, key, type, contacts)
     select project_id, key, coalesce(${FIRST_TYPE}, 'string'), sum(by) from changes group by project_id, key
     order by project_id, key
     on conflict (project_id, key) do update set contacts = f.contacts + excluded.contacts
   )
   select count(*)::integer as aggregated from deltas`;

const aggregateAny = statement<{ aggregated: number }>('contact-counts-aggregate', aggregateText('true'));
const aggregateProject = statement<{ aggregated: number }>(
  'contact-counts-aggregate-project',
  aggregateText('d.project_id = $2'),
);

/** Aggregates at most `limit` deltas and returns how many. 0: there are none, or another process aggregates. */
export async function aggregateContactDeltas(db: Db, limit: number, projectId?: string): Promise<number> {
  const [row] = await (projectId ? aggregateProject(db, [limit, projectId]) : aggregateAny(db, [limit]));
  return row?.aggregated ?? 0;
}

const lockAggregation = statement('contact-counts-lock', `select pg_advisory_xact_lock(${AGGREGATION_LOCK})`);

const NO_LIMIT = 2_000_000_000;

/** Aggregates all deltas of the project. No other process aggregates until the transaction ends. */
export async function aggregateAllContactCounts(trx: Db, projectId: string): Promise<void> {
  await lockAggregation(trx);
  await aggregateProject(trx, [NO_LIMIT, projectId]);
}
