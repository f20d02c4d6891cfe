import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { run, sql } from '../conditions/fragment.ts';
import { contactsWhere } from '../conditions/matching.ts';
import type { SegmentGraph } from './graph.ts';
import { guarded } from './guard.ts';
import { membersOf } from './matching.ts';

/**
 * Transactions that were under way when a segment became tracked did not see that, and so did not note what they
 * changed. By then they are over, and everybody is looked at once.
 */
const SETTLED_AFTER_SECONDS = 60;
/** To write down a million members takes longer than to count them. */
const KNOWN_TIMEOUT_MS = 30_000;

type Watched = Pick<Segment, 'id' | 'projectId' | 'trackMembership'>;

/** Writes down what a segment looks at, by itself and through others, if it is to be watched. */
export async function watch(trx: Db, segment: Watched, graph: SegmentGraph): Promise<void> {
  const { id, projectId, trackMembership } = segment;
  const used = [id, ...graph.referencesOf(id)];
  const ofUsed = sql`from segments used where used.project_id = ${projectId} and used.id = any (${used}::uuid[])`;
  await run(
    trx,
    sql`update segments set time_dependent = (select coalesce(bool_or(used.own_time_dependent), false) ${ofUsed})
      where project_id = ${projectId} and id = ${id}`,
  );
  await trx('segment_dependencies').where({ segmentId: id }).delete();
  if (trackMembership)
    await run(
      trx,
      sql`insert into segment_dependencies (project_id, dependency, segment_id)
        select ${projectId}, dependency, ${id}
        from (select distinct unnest(used.own_dependencies) as dependency ${ofUsed}) as dependencies`,
    );
}

/** Takes those who are in a dynamic segment at this moment as known, without a word to anybody. */
export async function storeCurrentMembers(trx: Db, segment: Segment): Promise<void> {
  const { id } = segment;
  await forgetMembers(trx, segment);
  await guarded(
    trx,
    segment.projectId,
    async () => {
      const members = await membersOf(trx, segment);
      await run(
        trx,
        sql`with known as (
          insert into segment_members (segment_id, contact_id)
          select ${id}, c.id ${contactsWhere(members)} returning 1
        )
        update segments set member_count = (select count(*) from known), swept_at = now(),
          reconcile_at = now() + make_interval(secs => ${SETTLED_AFTER_SECONDS})
        where id = ${id}`,
      );
    },
    KNOWN_TIMEOUT_MS,
  );
}

/** A dynamic segment that is no longer tracked has no stored members. */
export async function forgetMembers(trx: Db, { id }: Segment): Promise<void> {
  await trx('segment_members').where({ segmentId: id }).delete();
}

/** Everybody will be looked at again, with a word to each workflow that waits for it. */
export async function scheduleReconcile(trx: Db, ids: string[]): Promise<void> {
  await Segment.query(trx)
    .whereIn('id', ids)
    .where({ trackMembership: true, type: 'DYNAMIC' })
    .patch({ reconcileAt: new Date() });
}
