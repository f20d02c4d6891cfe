import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { dropUnusedParts, type RemovedContent } from '../emails/bodies.ts';

const CHUNK = 1_000;

type Erase = (trx: Db, projectId: string) => Promise<number>;

/** Deletes a chunk of the project's rows of a table in its own transaction, and returns how many. */
export async function eraseChunk(db: Db, table: string, projectId: string): Promise<number> {
  const erase = specialCases[table] ?? ((trx) => eraseRows(trx, table, projectId));
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      // Nobody is told of every row that goes.
      await trx.raw("select set_config('everpost.without_webhooks', 'on', true)");
      return erase(trx, projectId);
    }),
  );
}

/** Deletes by ctid, partition by partition, because a ctid is unique only within a partition. */
async function eraseRows(trx: Db, table: string, projectId: string): Promise<number> {
  const leaves: { rows: { leaf: string }[] } = await trx.raw(
    'select relid::regclass::text as leaf from pg_partition_tree(?::regclass) where isleaf',
    [table],
  );
  // A table without partitions has no tree.
  for (const leaf of leaves.rows.length > 0 ? leaves.rows.map((row) => row.leaf) : [table]) {
    const { rowCount } = await trx.raw(
      `delete from only ${leaf} where ctid = any (array(select ctid from only ${leaf} where project_id = ? limit ?))`,
      [projectId, CHUNK],
    );
    if (rowCount > 0) return rowCount;
  }
  return 0;
}

/** Moves the rates that auto-disable reads into a table outside analytics: a reset must not clear a project's bad rates. */
async function eraseKeepingRates(trx: Db, deletion: string, projectId: string): Promise<number> {
  const { rows } = await trx.raw(
    `with deleted as (${deletion}),
     moved as (
       insert into past_rate_hours as past (project_id, hour, sent, refused, bounced, complained)
       select project_id, hour, sum(sent), sum(refused), sum(bounced), sum(complained) from deleted
       group by 1, 2 having sum(sent) <> 0 or sum(bounced) <> 0 or sum(complained) <> 0 order by 1, 2
       on conflict (project_id, hour) do update set sent = past.sent + excluded.sent, refused = past.refused + excluded.refused,
         bounced = past.bounced + excluded.bounced, complained = past.complained + excluded.complained
     )
     select count(*)::integer as count from deleted`,
    { projectId, limit: CHUNK },
  );
  return rows[0].count;
}

const specialCases: Record<string, Erase> = {
  /** Deletes the rows of other tables that belong to a mail, which have no project or no index by it. */
  async emails(trx, projectId) {
    const { rows } = await trx.raw(
      `delete from emails where id in (select id from emails where project_id = ? order by id limit ? for update)
       returning id`,
      [projectId, CHUNK],
    );
    const ids = (rows as { id: string }[]).map(({ id }) => id);
    if (ids.length === 0) return 0;
    await trx.raw('delete from outgoing_mails where email_id = any (?::uuid[])', [ids]);
    await trx.raw('delete from email_notices where email_id = any (?::uuid[])', [ids]);
    const contents: { rows: RemovedContent[] } = await trx.raw(
      'delete from email_contents where email_id = any (?::uuid[]) returning body_id, attachment_set',
      [ids],
    );
    await dropUnusedParts(trx, contents.rows);
    return ids.length;
  },

  /** Locks contacts in the order of their addresses, as all writers do. Keeps the addresses of suppressions. */
  async contacts(trx, projectId) {
    await trx.raw("select set_config('everpost.keep_suppressed_addresses', 'on', true)");
    const { rowCount } = await trx.raw(
      `delete from contacts where id in (
         select id from contacts where project_id = ? order by email collate "C" limit ? for update)`,
      [projectId, CHUNK],
    );
    return rowCount;
  },

  /** Deletes the rows, which makes the files inaccessible. The bytes are deleted later (`services/uploads/remove.ts`). */
  async uploads(trx, projectId) {
    const { rowCount } = await trx.raw(
      `with deleted as (
         delete from uploads where project_id = :projectId
           and key in (select key from uploads where project_id = :projectId limit :chunk) returning key, size
       ),
       freed as (
         update upload_totals set bytes = bytes - (select coalesce(sum(size), 0) from deleted) where project_id = :projectId
       )
       insert into upload_removals (key) select key from deleted`,
      { projectId, chunk: CHUNK },
    );
    return rowCount;
  },

  async activity_hours(trx, projectId) {
    return eraseKeepingRates(
      trx,
      `delete from activity_hours
       where ctid = any (array(select ctid from activity_hours where project_id = :projectId limit :limit))
       returning project_id, hour, sent, refused, bounced, complained`,
      projectId,
    );
  },

  async activity_deltas(trx, projectId) {
    const count = (kind: string) => `case when kind = '${kind}' then delta else 0 end as ${kind}`;
    return eraseKeepingRates(
      trx,
      `delete from activity_deltas
       where ctid = any (array(select ctid from activity_deltas where project_id = :projectId limit :limit))
       returning project_id, date_trunc('hour', at, 'UTC') as hour, ${['sent', 'refused', 'bounced', 'complained'].map(count)}`,
      projectId,
    );
  },

  /** Deletes the members first, in chunks: deleting the segment would delete up to a million of them at once. */
  async segments(trx, projectId) {
    const { rowCount } = await trx.raw(
      `delete from segment_members where ctid = any (array(
         select m.ctid from segments s join segment_members m on m.segment_id = s.id where s.project_id = ? limit ?))`,
      [projectId, CHUNK],
    );
    return rowCount > 0 ? rowCount : eraseRows(trx, 'segments', projectId);
  },
};
