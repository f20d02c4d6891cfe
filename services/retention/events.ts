import { type Db, inTransaction } from '../../db/connect.ts';
import { lockEventAggregation } from '../../db/models/event-counts.ts';
import { identifier, sql, sqlText } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { aggregateEventCounts } from '../events/counts.ts';
import { daysAgo, dropTable, type Month, monthsOf, withLockTimeout } from './partitions.ts';

const CHUNK = 5_000;
const HOUR_MS = 3_600_000;

/**
 * Removes events that are older than `days` and returns how many. Drops whole months where possible, and deletes the rest
 * in chunks. Counts by the hour and of all time stay.
 */
export async function removeOldEvents(db: Db, days: number, now = new Date()): Promise<number> {
  const before = daysAgo(days, now);
  // Events must be counted before they are removed.
  await aggregateEventCounts(db);
  let removed = 0;
  for (const month of await monthsOf(db, 'events')) {
    if (month.to <= before) removed += await dropMonth(db, month);
    else if (month.from < before) removed += await removeHours(db, month, before);
  }
  return removed + (await removeWhere(db, { table: 'events_default', from: '-infinity', to: before }));
}

/** Subtracts removed events from the counts of retained ones. */
const subtractRetained = (removed: string): string => `
  subtracted as (
    update event_names n set retained = n.retained - c.count, in_feed = n.in_feed - c.in_feed
    from (select project_id, name, count(*) as count, count(*) filter (where in_feed) as in_feed from ${removed} group by 1, 2) c
    where n.project_id = c.project_id and n.name = c.name
  )`;

/** Dropping a partition fires no triggers, so the changes for tracked segments are recorded here. */
async function dropMonth(db: Db, { table }: Month): Promise<number> {
  return inTransaction(db, async (trx) => {
    await withLockTimeout(trx);
    await lockEventAggregation(trx);
    const [row] = await queryRows<{ count: number }>(
      trx,
      sql`with removed as materialized (
         select project_id, contact_id, name, activity_type(name, data) <> 'hidden' as in_feed from ${identifier(table)}
       ),
       ${sqlText(subtractRetained('removed'))},
       changes as (
         insert into contact_changes (project_id, contact_id, dependencies)
         select distinct r.project_id, r.contact_id, array['event.' || r.name] from removed r
         join segment_dependencies d on d.project_id = r.project_id and d.dependency = 'event.' || r.name
       )
       select count(*)::integer as count from removed`,
    );
    await dropTable(trx, table);
    return row?.count ?? 0;
  });
}

/** Removes by the hour, so that no statement scans the dead rows of the ones before. */
async function removeHours(db: Db, month: Month, before: Date): Promise<number> {
  let removed = 0;
  for (let from = month.from.getTime(); from < before.getTime(); from += HOUR_MS) {
    const to = new Date(Math.min(from + HOUR_MS, before.getTime()));
    removed += await removeWhere(db, { table: 'events', from: new Date(from), to });
  }
  return removed;
}

// Deletes from the parent table, whose trigger records the changes for tracked segments.
const removeChunk = (table: string) =>
  statement<{ count: number }>(
    `retention-${table}`,
    `with old as (
       select id, created_at from ${table} where created_at >= $1::timestamptz and created_at < $2::timestamptz limit $3
     ),
     removed as (
       delete from events e using old where e.id = old.id and e.created_at = old.created_at
         and e.created_at >= $1::timestamptz and e.created_at < $2::timestamptz
       returning e.project_id, e.name, activity_type(e.name, e.data) <> 'hidden' as in_feed
     ),
     ${subtractRetained('removed')}
     select count(*)::integer as count from removed`,
  );
const removals = { events: removeChunk('events'), events_default: removeChunk('events_default') };

interface OldEvents {
  table: keyof typeof removals;
  from: Date | '-infinity';
  to: Date;
}

async function removeWhere(db: Db, { table, from, to }: OldEvents): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await inTransaction(db, async (trx) => {
      await lockEventAggregation(trx);
      const [row] = await removals[table](trx, [from, to, CHUNK]);
      return row?.count ?? 0;
    });
    removed += count;
    if (count < CHUNK) return removed;
  }
}
