import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { conditionOf, invalidCondition } from '../conditions/parse.ts';
import type { ProjectAccess } from '../projects/keys.ts';
import { recount } from './count.ts';
import { findSegment, lockSegment } from './find.ts';
import { SegmentGraph } from './graph.ts';
import { forgetMembers, reconcileSoon, takeAsKnown, watch } from './tracking.ts';
import { oneAtATime, writing } from './writing.ts';

/** What is left out stays; `condition` is ignored on a static segment. */
export interface SegmentChange {
  name?: string | undefined;
  description?: string | null | undefined;
  condition?: unknown;
  trackMembership?: boolean | undefined;
}

export async function updateSegment(
  db: Db,
  project: ProjectAccess,
  id: string,
  { name, description, condition, trackMembership }: SegmentChange,
): Promise<Segment> {
  const { projectId } = project;
  const changed = await writing(db, project, async (trx) => {
    await oneAtATime(trx, projectId);
    const before = await lockSegment(trx, projectId, id);
    const isDynamic = before.type === 'DYNAMIC';
    if (isDynamic && condition !== undefined) conditionOf(condition, { at: 'condition' });
    const after = await Segment.query(trx).patchAndFetchById(id, {
      ...defined({ name, description, trackMembership }),
      ...(isDynamic && condition !== undefined ? { condition: condition as Segment['condition'] } : {}),
      updatedAt: new Date(),
    });
    const isNewCondition = !isDeepStrictEqual(before.condition, after.condition);
    if (isDynamic) await follow(trx, before, after, isNewCondition);
    return isNewCondition && !after.trackMembership;
  });
  const segment = await findSegment(db, projectId, id);
  return changed ? recount(db, segment) : segment;
}

/** What a change means for membership, its own and that of the segments that refer to it. */
async function follow(trx: Db, before: Segment, after: Segment, isNewCondition: boolean): Promise<void> {
  const isNewlyTracked = after.trackMembership && !before.trackMembership;
  if (!isNewCondition && after.trackMembership === before.trackMembership) return;
  const all = await Segment.query(trx).where({ projectId: after.projectId });
  const graph = new SegmentGraph(all);
  const faults = graph.faultsOf(after.id, 'condition');
  if (faults.length > 0) throw invalidCondition(faults);
  await watch(trx, after, graph);
  if (isNewlyTracked) await takeAsKnown(trx, after);
  else if (!after.trackMembership) await stopTracking(trx, after);
  if (!isNewCondition) return;
  const dependents = new Set(graph.dependentsOf(after.id));
  // Whoever evaluates one of them by the old condition is done before they are looked through by the new one.
  await Segment.query(trx)
    .whereIn('id', [...dependents])
    .orderBy('id')
    .forUpdate();
  for (const other of all) if (dependents.has(other.id)) await watch(trx, other, graph);
  await reconcileSoon(trx, isNewlyTracked ? [...dependents] : [after.id, ...dependents]);
}

async function stopTracking(trx: Db, segment: Segment): Promise<void> {
  await forgetMembers(trx, segment);
  await Segment.query(trx).findById(segment.id).patch({ reconcileAt: null });
}

const defined = <T extends object>(given: T): Partial<T> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
