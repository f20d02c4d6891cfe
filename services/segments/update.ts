import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { conditionOf, invalidCondition } from '../conditions/parse.ts';
import type { Uses } from '../conditions/types.ts';
import { changingSegments } from './changing.ts';
import { recount } from './count.ts';
import { findSegment, lockSegment } from './find.ts';
import { SegmentGraph } from './graph.ts';
import { forgetMembers, scheduleReconcile, storeCurrentMembers, watch } from './tracking.ts';
import { storedUses } from './uses.ts';

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
  const changed = await changingSegments(db, project, async (trx) => {
    const before = await lockSegment(trx, projectId, id);
    const isDynamic = before.type === 'DYNAMIC';
    const isRead = isDynamic && (condition !== undefined || trackMembership !== undefined);
    const tree = condition === undefined ? before.condition : condition;
    const uses = isRead ? conditionOf(tree, { at: 'condition' }).uses : undefined;
    const after = await Segment.query(trx).patchAndFetchById(id, {
      ...defined({ name, description, trackMembership }),
      ...(isDynamic && condition !== undefined ? { condition: condition as Segment['condition'] } : {}),
      ...(uses && storedUses(uses)),
      updatedAt: new Date(),
    });
    const isNewCondition = !isDeepStrictEqual(before.condition, after.condition);
    if (uses) await follow(trx, { before, after, uses, isNewCondition });
    return isNewCondition && !after.trackMembership;
  });
  const segment = await findSegment(db, projectId, id);
  return changed ? recount(db, segment) : segment;
}

interface Change {
  before: Segment;
  after: Segment;
  /** What the condition uses from now on. */
  uses: Uses;
  isNewCondition: boolean;
}

/** What a change means for membership, its own and that of the segments that refer to it. */
async function follow(trx: Db, { before, after, uses, isNewCondition }: Change): Promise<void> {
  const isNewlyTracked = after.trackMembership && !before.trackMembership;
  if (!isNewCondition && after.trackMembership === before.trackMembership) return;
  const graph = await SegmentGraph.of(trx, after.projectId);
  const faults = graph.faultsOf(after.id, uses, 'condition');
  if (faults.length > 0) throw invalidCondition(faults);
  await watch(trx, after, graph);
  if (isNewlyTracked) await storeCurrentMembers(trx, after);
  else if (!after.trackMembership) await stopTracking(trx, after);
  if (!isNewCondition) return;
  // Whoever evaluates one of them by the old condition is done before they are looked through by the new one.
  const dependents = await Segment.query(trx)
    .where({ projectId: after.projectId })
    .whereIn('id', graph.dependentsOf(after.id))
    .select('id', 'projectId', 'trackMembership')
    .orderBy('id')
    .forUpdate();
  for (const other of dependents) await watch(trx, other, graph);
  const ids = dependents.map(({ id }) => id);
  await scheduleReconcile(trx, isNewlyTracked ? ids : [after.id, ...ids]);
}

async function stopTracking(trx: Db, segment: Segment): Promise<void> {
  await forgetMembers(trx, segment);
  await Segment.query(trx).findById(segment.id).patch({ reconcileAt: null });
}

const defined = <T extends object>(given: T): Partial<T> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
