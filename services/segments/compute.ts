import type { Db } from '../../db/connect.ts';
import { badRequest } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { applyRecounts } from './count.ts';
import { findSegment } from './find.ts';
import { guarded } from './guard.ts';
import { reconcileSegment } from './reconcile.ts';
import { scheduleReconcile } from './tracking.ts';

/** The longest time that a request waits. The rest is done in the background. */
const DEADLINE_MS = 20_000;

export interface Computed {
  added: number;
  removed: number;
  total: number;
}

export async function computeSegment(db: Db, project: ProjectAccess, id: string): Promise<Computed> {
  const segment = await findSegment(db, project.projectId, id);
  if (segment.type !== 'DYNAMIC' || !segment.trackMembership)
    throw badRequest('Only a dynamic segment that tracks its membership can be computed.');
  await requireOpenProject(db, project);
  const deadline = performance.now() + DEADLINE_MS;
  const hasTime = () => performance.now() < deadline;
  const { entered, left } = await reconcileSegment(db, segment, {
    hasTime,
    limited: (limitedDb, work) => guarded(limitedDb, project.projectId, work),
  });
  if (!hasTime()) await scheduleReconcile(db, [id]);
  await applyRecounts(db);
  const { memberCount } = await findSegment(db, project.projectId, id);
  return { added: entered, removed: left, total: memberCount };
}
