import type { Db } from '../../db/connect.ts';
import { type Fragment, sql } from '../../db/sql.ts';
import { statement } from '../../db/statement.ts';

interface SearchFilter {
  search?: string | undefined;
  query?: string | undefined;
  data: unknown[];
}

/** Smaller projects are searched fast with the index anyway. */
const LARGE_PROJECT = 50_000;
const NEARLY_ALL = 0.9;

export const projectContacts = (projectId: string): Fragment => sql`project_id = ${projectId}`;

const contactShare = statement<{ own: string | null; total: number }>(
  'contacts-share',
  `select (select contacts from contact_counts where project_id = $1) as own, reltuples as total
   from pg_class where oid = 'contacts'::regclass`,
);

/**
 * Returns the condition on `project_id` for a search by the GIN indexes. With a million contacts such an index spends
 * most of its time on intersecting with the project. Where nearly all contacts belong to the project, the condition is
 * written so that the planner filters rows instead of using the index for it.
 */
export async function scopeOf(db: Db, projectId: string, filter?: SearchFilter): Promise<Fragment> {
  if (filter && !isIndexable(filter)) return projectContacts(projectId);
  const [share] = await contactShare(db, [projectId]);
  const own = Number(share?.own ?? 0);
  return own >= LARGE_PROJECT && own >= NEARLY_ALL * (share?.total ?? 0)
    ? sql`(project_id = ${projectId}) is not false`
    : projectContacts(projectId);
}

/** Trigram indexes need three letters or digits; a shorter search scans the project's addresses. */
const isIndexable = ({ search, query, data }: SearchFilter): boolean =>
  data.length > 0 || /[a-z0-9]{3}/.test(search || query || '');
