import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type Fragment, sql } from './fragment.ts';

interface SearchFilter {
  search?: string | undefined;
  data: unknown[];
}

/** Below this the project's own part of an index is read in no time. */
const LARGE = 50_000;
const NEARLY_ALL = 0.9;

export const ownContacts = (projectId: string): Fragment => sql`project_id = ${projectId}`;

const shares = statement<{ own: string | null; everybody: number }>(
  'contacts-share',
  `select (select contacts from contact_counts where project_id = $1) as own, reltuples as everybody
   from pg_class where oid = 'contacts'::regclass`,
);

/**
 * That a contact is of the project, for a search by an index that knows the project as well as the words. Among a
 * million contacts that index spends most of its time on finding out which hits are the project's. Where nearly all of
 * them are (one tenant, or one that dwarfs the others) the condition is put so that the rows are asked instead.
 */
export async function scopeOf(db: Db, projectId: string, filter?: SearchFilter): Promise<Fragment> {
  if (filter && !isIndexable(filter)) return ownContacts(projectId);
  const [share] = await shares(db, [projectId]);
  const own = Number(share?.own ?? 0);
  return own >= LARGE && own >= NEARLY_ALL * (share?.everybody ?? 0)
    ? sql`(project_id = ${projectId}) is not false`
    : ownContacts(projectId);
}

/** Trigrams are of letters and digits; a shorter search goes through the project's addresses. */
const isIndexable = ({ search, data }: SearchFilter): boolean => data.length > 0 || /[a-z0-9]{3}/.test(search ?? '');
