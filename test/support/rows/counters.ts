// The queue of changes for what is counted (docs/decisions/counts.md).
import type { Db } from '../../../db/connect.ts';

interface Subject {
  projectId?: string;
  subject?: string;
}

/** The changes of a subject that the counters do not include yet, the oldest first. */
export const pendingCounts = (db: Db, where: Subject): Promise<Record<string, number>[]> =>
  db('counterDeltas').where(where).orderBy('ctid').pluck('counts');

interface Sum {
  part: string;
  period: Date;
  name: string;
  count: number;
}

/** The sums of the changes of a subject that the counters do not include yet, those that are not 0. */
export async function pendingSums(db: Db, projectId: string, subject: string): Promise<Sum[]> {
  const { rows } = await db.raw(
    `select part, period, name, sum(value::bigint)::integer as count
     from counter_deltas, jsonb_each_text(counts) as number (name, value) where project_id = ? and subject = ?
     group by 1, 2, 3 having sum(value::bigint) <> 0 order by 1, 2, 3`,
    [projectId, subject],
  );
  return rows;
}
