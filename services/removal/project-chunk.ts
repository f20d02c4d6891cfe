import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { joined, sql, sqlText } from '../../db/sql.ts';
import { queryCount, queryRows } from '../../db/statement.ts';
import { dropUnusedParts, type RemovedContent } from '../emails/bodies.ts';

const CHUNK = 1_000;

type Erase = (trx: Db, projectId: string) => Promise<number>;

/** Deletes a chunk of the project's rows of a table in its own transaction, and returns how many. */
export async function eraseChunk(db: Db, table: string, projectId: string): Promise<number> {
  const erase = specialCases[table] ?? ((trx) => eraseRows(trx, table, projectId));
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      // No event or webhook for every row that is removed.
      await queryRows(trx, sql`select set_config('everpost.without_webhooks', 'on', true)`);
      return erase(trx, projectId);
    }),
  );
}

/** Deletes by ctid, partition by partition, because a ctid is unique only within a partition. */
async function eraseRows(trx: Db, table: string, projectId: string): Promise<number> {
  const leaves = await queryRows<{ leaf: string }>(
    trx,
    sql`select relid::regclass::text as leaf from pg_partition_tree(${table}::regclass) where isleaf`,
  );
  // A table without partitions has no tree.
  for (const name of leaves.length > 0 ? leaves.map(({ leaf }) => leaf) : [table]) {
    const leaf = sqlText(name);
    const deleted = await queryCount(
      trx,
      sql`delete from only ${leaf} where ctid = any (array(
        select ctid from only ${leaf} where project_id = ${projectId} limit ${CHUNK}))`,
    );
    if (deleted > 0) return deleted;
  }
  return 0;
}

const rate = (name: string) => sqlText(`coalesce(sum((counts ->> '${name}')::bigint), 0) as ${name}`);

/** Moves the rates that auto-disable reads into a table outside analytics: a reset must not clear a project's bad rates. */
const eraseKeepingRates =
  (table: 'counters' | 'counter_deltas'): Erase =>
  async (trx, projectId) => {
    const counts = sqlText(table);
    const [row] = await queryRows<{ count: number }>(
      trx,
      sql`with deleted as (
         delete from ${counts} where ctid = any (array(select ctid from ${counts} where project_id = ${projectId} limit ${CHUNK}))
         returning project_id, subject, period, counts
       ),
       hours as (
         select project_id, period as hour, ${joined(['sent', 'refused', 'bounced', 'complained'].map(rate), ', ')}
         from deleted where subject = 'activity/hours' group by 1, 2
       ),
       moved as (
         insert into past_rate_hours as past (project_id, hour, sent, refused, bounced, complained)
         select * from hours where sent <> 0 or bounced <> 0 or complained <> 0 order by 1, 2
         on conflict (project_id, hour) do update set sent = past.sent + excluded.sent,
           refused = past.refused + excluded.refused, bounced = past.bounced + excluded.bounced,
           complained = past.complained + excluded.complained
       )
       select count(*)::integer as count from deleted`,
    );
    return row?.count ?? 0;
  };

const specialCases: Record<string, Erase> = {
  /** Deletes the rows of other tables that belong to a mail, which have no project or no index by it. */
  async emails(trx, projectId) {
    const mails = await queryRows<{ id: string }>(
      trx,
      sql`delete from emails where id in (
        select id from emails where project_id = ${projectId} order by id limit ${CHUNK} for update) returning id`,
    );
    const ids = mails.map(({ id }) => id);
    if (ids.length === 0) return 0;
    await queryRows(trx, sql`delete from outgoing_mails where email_id = any (${ids}::uuid[])`);
    await queryRows(trx, sql`delete from email_notices where email_id = any (${ids}::uuid[])`);
    const contents = await queryRows<RemovedContent>(
      trx,
      sql`delete from email_contents where email_id = any (${ids}::uuid[]) returning body_id, attachment_set`,
    );
    await dropUnusedParts(trx, contents);
    return ids.length;
  },

  /** Locks contacts in the order of their addresses, as all writers do. Keeps the addresses of suppressions. */
  async contacts(trx, projectId) {
    await queryRows(trx, sql`select set_config('everpost.keep_suppressed_addresses', 'on', true)`);
    return queryCount(
      trx,
      sql`delete from contacts where id in (
         select id from contacts where project_id = ${projectId} order by email collate "C" limit ${CHUNK} for update)`,
    );
  },

  /** Deletes the rows, which makes the files inaccessible. The bytes are deleted later (`services/uploads/remove.ts`). */
  async uploads(trx, projectId) {
    return queryCount(
      trx,
      sql`with deleted as (
         delete from uploads where project_id = ${projectId}
           and key in (select key from uploads where project_id = ${projectId} limit ${CHUNK}) returning key, size
       ),
       freed as (
         update upload_totals set bytes = bytes - (select coalesce(sum(size), 0) from deleted) where project_id = ${projectId}
       )
       insert into upload_removals (key) select key from deleted`,
    );
  },

  counters: eraseKeepingRates('counters'),
  counter_deltas: eraseKeepingRates('counter_deltas'),

  /** Deletes the members first, in chunks: deleting the segment would delete up to a million of them at once. */
  async segments(trx, projectId) {
    const deleted = await queryCount(
      trx,
      sql`delete from segment_members where ctid = any (array(
         select m.ctid from segments s join segment_members m on m.segment_id = s.id
         where s.project_id = ${projectId} limit ${CHUNK}))`,
    );
    return deleted > 0 ? deleted : eraseRows(trx, 'segments', projectId);
  },
};
