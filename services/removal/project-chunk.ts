import { type Db, inTransaction } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { dropUnusedAttachments } from '../emails/attachments.ts';

const CHUNK = 1_000;

type Erase = (trx: Db, projectId: string) => Promise<number>;

/** Deletes some rows of a table that are the project's, in a transaction of their own. Gives back how many. */
export async function eraseChunk(db: Db, table: string, projectId: string): Promise<number> {
  const erase = special[table] ?? ((trx) => eraseRows(trx, table, projectId));
  return retryDeadlocks(db, () => inTransaction(db, (trx) => erase(trx, projectId)));
}

/** By their places, partition by partition: a place in a partitioned table says nothing without the partition. */
async function eraseRows(trx: Db, table: string, projectId: string): Promise<number> {
  const leaves: { rows: { leaf: string }[] } = await trx.raw(
    'select relid::regclass::text as leaf from pg_partition_tree(?::regclass) where isleaf',
    [table],
  );
  // Of a table without partitions that tells nothing.
  for (const leaf of leaves.rows.length > 0 ? leaves.rows.map((row) => row.leaf) : [table]) {
    const { rowCount } = await trx.raw(
      `delete from only ${leaf} where ctid = any (array(select ctid from only ${leaf} where project_id = ? limit ?))`,
      [projectId, CHUNK],
    );
    if (rowCount > 0) return rowCount;
  }
  return 0;
}

/** Moves what auto-disable looks at to where analytics do not see it: a reset must not clear a project's bad rates. */
async function keepRates(trx: Db, deletion: string, projectId: string): Promise<number> {
  const { rows } = await trx.raw(
    `with gone as (${deletion}),
     moved as (
       insert into past_rate_hours as past (project_id, hour, sent, bounced, complained)
       select project_id, hour, sum(sent), sum(bounced), sum(complained) from gone
       group by 1, 2 having sum(sent) <> 0 or sum(bounced) <> 0 or sum(complained) <> 0 order by 1, 2
       on conflict (project_id, hour) do update set sent = past.sent + excluded.sent,
         bounced = past.bounced + excluded.bounced, complained = past.complained + excluded.complained
     )
     select count(*)::integer as count from gone`,
    { projectId, limit: CHUNK },
  );
  return rows[0].count;
}

const special: Record<string, Erase> = {
  /** With all that hangs on a mail and does not know the project, or is not to be found by it. */
  async emails(trx, projectId) {
    const { rows } = await trx.raw(
      `delete from emails where id in (select id from emails where project_id = ? order by id limit ? for update)
       returning id`,
      [projectId, CHUNK],
    );
    const ids = (rows as { id: string }[]).map(({ id }) => id);
    if (ids.length === 0) return 0;
    await trx.raw('delete from email_attempts where email_id = any (?::uuid[])', [ids]);
    await trx.raw('delete from campaign_mails_in_flight where email_id = any (?::uuid[])', [ids]);
    await trx.raw('delete from email_notices where email_id = any (?::uuid[])', [ids]);
    const contents: { rows: { attachment_set: string | null }[] } = await trx.raw(
      'delete from email_contents where email_id = any (?::uuid[]) returning attachment_set',
      [ids],
    );
    await dropUnusedAttachments(trx, [...new Set(contents.rows.flatMap(({ attachment_set: set }) => set ?? []))]);
    return ids.length;
  },

  /** In the order in which everybody locks them. The suppression list stays readable, as long as it stays at all. */
  async contacts(trx, projectId) {
    await trx.raw("select set_config('everpost.keep_suppressed_addresses', 'on', true)");
    const { rowCount } = await trx.raw(
      `delete from contacts where id in (
         select id from contacts where project_id = ? order by email collate "C" limit ? for update)`,
      [projectId, CHUNK],
    );
    return rowCount;
  },

  /** The bytes go after the rows (`services/uploads/remove.ts`); from now on nobody sees them. */
  async uploads(trx, projectId) {
    const { rowCount } = await trx.raw(
      `with gone as (
         delete from uploads where project_id = :projectId
           and key in (select key from uploads where project_id = :projectId limit :chunk) returning key, size
       ),
       freed as (
         update upload_totals set bytes = bytes - (select coalesce(sum(size), 0) from gone) where project_id = :projectId
       )
       insert into upload_removals (key) select key from gone`,
      { projectId, chunk: CHUNK },
    );
    return rowCount;
  },

  async activity_hours(trx, projectId) {
    return keepRates(
      trx,
      `delete from activity_hours
       where ctid = any (array(select ctid from activity_hours where project_id = :projectId limit :limit))
       returning project_id, hour, sent, bounced, complained`,
      projectId,
    );
  },

  async activity_deltas(trx, projectId) {
    const count = (kind: string) => `case when kind = '${kind}' then by else 0 end as ${kind}`;
    return keepRates(
      trx,
      `delete from activity_deltas
       where ctid = any (array(select ctid from activity_deltas where project_id = :projectId limit :limit))
       returning project_id, date_trunc('hour', at, 'UTC') as hour, ${['sent', 'bounced', 'complained'].map(count)}`,
      projectId,
    );
  },

  /** First the members, which may be a million: deleting the segment would take them along at one go. */
  async segments(trx, projectId) {
    const { rowCount } = await trx.raw(
      `delete from segment_members where ctid = any (array(
         select m.ctid from segments s join segment_members m on m.segment_id = s.id where s.project_id = ? limit ?))`,
      [projectId, CHUNK],
    );
    return rowCount > 0 ? rowCount : eraseRows(trx, 'segments', projectId);
  },
};
