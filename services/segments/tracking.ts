import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { sql } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { processTimings } from '../../platform/timings.ts';
import { contactsWhere } from '../conditions/matching.ts';
import type { SegmentGraph } from './graph.ts';
import { guarded } from './guard.ts';
import { membersOf } from './matching.ts';

/** Longer than the limit for counting: storing a million members takes more time. */
const STORE_TIMEOUT_MS = 30_000;

const removeDependencies = statement(
  'segment-dependencies-remove',
  'delete from segment_dependencies where segment_id = $1',
);
const removeMembers = statement('segment-members-remove', 'delete from segment_members where segment_id = $1');

type Dependent = Pick<Segment, 'id' | 'projectId' | 'trackMembership'>;

/** Stores the dependencies of a tracked segment, its own and those of the segments that it refers to. */
export async function storeDependencies(trx: Db, segment: Dependent, graph: SegmentGraph): Promise<void> {
  const { id, projectId, trackMembership } = segment;
  const used = [id, ...graph.referencesOf(id)];
  const ofUsed = sql`from segments used where used.project_id = ${projectId} and used.id = any (${used}::uuid[])`;
  await queryRows(
    trx,
    sql`update segments set time_dependent = (select coalesce(bool_or(used.own_time_dependent), false) ${ofUsed})
      where project_id = ${projectId} and id = ${id}`,
  );
  await removeDependencies(trx, [id]);
  if (trackMembership)
    await queryRows(
      trx,
      sql`insert into segment_dependencies (project_id, dependency, segment_id)
        select ${projectId}, dependency, ${id}
        from (select distinct unnest(used.own_dependencies) as dependency ${ofUsed}) as dependencies`,
    );
}

/** Stores the current members of a dynamic segment without recording events. */
export async function storeCurrentMembers(trx: Db, segment: Segment): Promise<void> {
  const { id } = segment;
  await deleteMembers(trx, segment);
  await guarded(
    trx,
    segment.projectId,
    async () => {
      const members = await membersOf(trx, segment);
      await queryRows(
        trx,
        sql`with stored as (
          insert into segment_members (segment_id, contact_id)
          select ${id}, c.id ${contactsWhere(members)} returning 1
        )
        update segments set member_count = (select count(*) from stored), swept_at = now(),
          reconcile_at = now() + make_interval(secs => ${processTimings.segments.reconcileAfter / 1_000})
        where id = ${id}`,
      );
    },
    STORE_TIMEOUT_MS,
  );
}

/** Deletes the stored members of a dynamic segment that is no longer tracked. */
export async function deleteMembers(trx: Db, { id }: Segment): Promise<void> {
  await removeMembers(trx, [id]);
}

/** Schedules an evaluation of all contacts, which records events for the changes. */
export async function scheduleReconcile(trx: Db, ids: string[]): Promise<void> {
  await Segment.query(trx)
    .whereIn('id', ids)
    .where({ trackMembership: true, type: 'DYNAMIC' })
    .patch({ reconcileAt: new Date() });
}

const findDependent = statement<{ id: string }>(
  'segments-depending-on',
  'select distinct segment_id as id from segment_dependencies where project_id = $1 and dependency = any ($2::text[])',
);

/** The same for the tracked segments that depend on any of these facts. */
export async function scheduleReconcileOf(trx: Db, projectId: string, dependencies: string[]): Promise<void> {
  const segments = await findDependent(trx, [projectId, dependencies]);
  if (segments.length > 0)
    await scheduleReconcile(
      trx,
      segments.map(({ id }) => id),
    );
}
