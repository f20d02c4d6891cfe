import type { Db } from '../../db/connect.ts';
import { type ContactRecord, contactColumns } from '../../db/models/contact.ts';
import { type Fragment, sql, sqlText } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { toSql } from './evaluate.ts';
import type { ResolvedCondition } from './resolve.ts';
import { projectContacts, scopeOf } from './scope.ts';

/** A query for the contacts of a project that match a condition. */
export interface Matching {
  projectId: string;
  /** Restricts contacts to the project. */
  scope: Fragment;
  /** The condition on the contact with the alias `c`. */
  condition: Fragment;
}

/** This many rows are found by index and sorted in a few milliseconds. */
const SMALL_RESULT = 5_000;
/** How many contacts are scanned in order before falling back to a full search. */
const MAX_SCAN = 10_000;

export async function matchingContacts(
  db: Db,
  projectId: string,
  { condition, uses, segments, timeZone }: ResolvedCondition,
  now = new Date(),
): Promise<Matching> {
  const scope = uses.keys.size > 0 ? await scopeOf(db, projectId) : projectContacts(projectId);
  return { projectId, scope, condition: toSql(condition, { projectId, now, segments, timeZone, context: {} }) };
}

/** The FROM and WHERE clauses of the query. */
export const contactsWhere = ({ scope, condition }: Matching): Fragment =>
  sql`from contacts c where ${scope} and ${condition}`;

export async function countMatching(db: Db, matching: Matching): Promise<number> {
  const [row] = await queryRows<{ count: number }>(
    db,
    sql`select count(*)::integer as count ${contactsWhere(matching)}`,
  );
  return row?.count ?? 0;
}

export interface MatchingPageQuery {
  /** How many contacts match in total. */
  total: number;
  offset: number;
  limit: number;
}

/** Returns a page of matching contacts, the newest first. */
export async function pageOfMatching(db: Db, matching: Matching, page: MatchingPageQuery): Promise<ContactRecord[]> {
  const { total, offset, limit } = page;
  if (offset >= total) return [];
  if (total > SMALL_RESULT && offset + limit <= total / 100) {
    const rows = await pageByScan(db, matching, page);
    if (rows.length === Math.min(limit, total - offset)) return rows;
  }
  return pageBySearch(db, matching, page);
}

const listedColumns = sqlText(contactColumns('c'));

const newestFirst = sql`order by c.created_at desc, c.id desc`;

/** Finds all matches, then cuts the page. MATERIALIZED keeps the planner from choosing a plan for the small LIMIT. */
async function pageBySearch(
  db: Db,
  matching: Matching,
  { offset, limit }: MatchingPageQuery,
): Promise<ContactRecord[]> {
  return queryRows<ContactRecord>(
    db,
    sql`with found as materialized (select c.id, c.created_at ${contactsWhere(matching)}),
      page as (select c.id from found c ${newestFirst} limit ${limit} offset ${offset})
      select ${listedColumns} from page join contacts c using (id) ${newestFirst}`,
  );
}

/** Scans the newest contacts, because with many matches a first page is near. The time index leads with `subscribed`. */
async function pageByScan(db: Db, matching: Matching, { offset, limit }: MatchingPageQuery): Promise<ContactRecord[]> {
  const { projectId, condition } = matching;
  const newest = (subscribed: boolean) =>
    sql`(select * from contacts c where c.project_id = ${projectId} and c.subscribed = ${subscribed} ${newestFirst} limit ${MAX_SCAN})`;
  return queryRows<ContactRecord>(
    db,
    sql`select ${listedColumns} from (
        select c.* from (${newest(true)} union all ${newest(false)}) c ${newestFirst} limit ${MAX_SCAN}
      ) c where ${condition} ${newestFirst} limit ${limit} offset ${offset}`,
  );
}
