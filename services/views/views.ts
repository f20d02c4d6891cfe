import type { Db } from '../../db/connect.ts';
import { View, type ViewPage, viewPages } from '../../db/models/view.ts';
import { notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireBelowLimit } from '../access/resource-limit.ts';
import { hasScope, requireScope, type Scope } from '../access/scopes.ts';
import { writing } from '../access/write-transaction.ts';

export { viewPages } from '../../db/models/view.ts';

const MAX_VIEWS = 100;

type Right = 'read' | 'write';

/** A key needs the scope of what the page lists. */
const resources = {
  contacts: 'contacts',
  emails: 'send',
  executions: 'workflows',
  campaigns: 'campaigns',
} as const satisfies Record<ViewPage, string>;

const scopeOf = (page: ViewPage, right: Right): Scope => `${resources[page]}:${right}`;

export const viewScopes = (right: Right): Scope[] => viewPages.map((page) => scopeOf(page, right));

export type ViewInput = Pick<View, 'name' | 'page' | 'filters' | 'columns'>;

/** Returns the views that the caller may read, by name. */
export async function listViews(db: Db, project: ProjectAccess): Promise<View[]> {
  const pages = viewPages.filter((page) => hasScope(project, scopeOf(page, 'read')));
  return View.query(db).where({ projectId: project.projectId }).whereIn('page', pages).orderBy('name').orderBy('id');
}

export async function createView(db: Db, project: ProjectAccess, view: ViewInput): Promise<View> {
  requireScope(project, scopeOf(view.page, 'write'));
  const { projectId, actor } = project;
  return writing(db, project, async (trx) => {
    await requireBelowLimit(trx, { what: 'views', projectId, max: MAX_VIEWS });
    const createdBy = actor?.type === 'USER' ? actor.id : null;
    return View.query(trx)
      .insert({ id: newId(), projectId, ...view, createdBy })
      .returning('*');
  });
}

/** Undefined fields stay as they are. */
export async function updateView(
  db: Db,
  project: ProjectAccess,
  id: string,
  changes: { [K in 'name' | 'filters' | 'columns']?: View[K] | undefined },
): Promise<View> {
  return writing(db, project, async (trx) => {
    const view = await lockView(trx, project, id);
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    return given.length === 0 ? view : view.$query(trx).patchAndFetch(Object.fromEntries(given));
  });
}

export async function deleteView(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await writing(db, project, async (trx) => {
    await (await lockView(trx, project, id)).$query(trx).delete();
  });
}

async function lockView(trx: Db, project: ProjectAccess, id: string): Promise<View> {
  const view = await View.query(trx).findOne({ projectId: project.projectId, id }).forUpdate();
  if (!view) throw notFound('view');
  requireScope(project, scopeOf(view.page, 'write'));
  return view;
}
