import type { Db } from '../../db/connect.ts';
import { lockEventAggregation } from '../../db/models/event-counts.ts';
import { statement } from '../../db/statement.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';

// One statement has one snapshot: of an event that is recorded meanwhile, both the row and its delta stay.
const remove = statement<{ deleted: string }>(
  'events-remove',
  `with removed as (delete from events where project_id = $1 and name = $2 returning 1),
   deltas as (delete from event_deltas where project_id = $1 and name = $2),
   hours as (delete from event_hours where project_id = $1 and name = $2),
   days as (delete from event_days where project_id = $1 and name = $2),
   contacts as (delete from event_contacts where project_id = $1 and name = $2),
   names as (delete from event_names where project_id = $1 and name = $2)
   select count(*) as deleted from removed`,
);

/** Deletes every event of that name, and its counts. */
export async function deleteEvents(db: Db, project: ProjectAccess, name: string): Promise<number> {
  return writing(db, project, async (trx) => {
    await lockEventAggregation(trx);
    const [row] = await remove(trx, [project.projectId, name]);
    const deleted = Number(row?.deleted ?? 0);
    if (deleted > 0)
      await recordAudit(trx, project, {
        action: 'event.deleted',
        target: { type: 'event', id: name },
        changes: changesOf({}, { deleted }),
      });
    return deleted;
  });
}
