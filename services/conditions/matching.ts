import type { Db } from '../../db/connect.ts';
import { type ContactRecord, type ContactRow, contactRecord } from '../../db/models/contact.ts';
import { type Fragment, run, sql } from './fragment.ts';
import { toSql } from './read.ts';
import type { ResolvedCondition } from './resolve.ts';
import { ownContacts, scopeOf } from './scope.ts';

/** The contacts of a project that match, as a question which is yet to be asked. */
export interface Matching {
  projectId: string;
  /** That a contact is of the project. */
  scope: Fragment;
  /** That the contact under the alias `c` matches. */
  condition: Fragment;
}

/** So many are found by their indexes and sorted in a few milliseconds. */
const FEW = 5_000;
/** How far contacts are walked in their order, looking for those that match, before that is given up. */
const WALK = 10_000;

export async function matchingOf(
  db: Db,
  projectId: string,
  { condition, uses, segments }: ResolvedCondition,
  now = new Date(),
): Promise<Matching> {
  const scope = uses.keys.size > 0 ? await scopeOf(db, projectId) : ownContacts(projectId);
  return { projectId, scope, condition: toSql(condition, { projectId, now, segments, context: {} }) };
}

/** To be selected from. */
export const contactsWhere = ({ scope, condition }: Matching): Fragment =>
  sql`from contacts c where ${scope} and ${condition}`;

export async function countMatching(db: Db, matching: Matching): Promise<number> {
  const [row] = await run<{ count: number }>(db, sql`select count(*)::integer as count ${contactsWhere(matching)}`);
  return row?.count ?? 0;
}

export interface PageWanted {
  /** How many match altogether. */
  total: number;
  offset: number;
  limit: number;
}

/** A page of those who match, the newest first. */
export async function pageOfMatching(db: Db, matching: Matching, wanted: PageWanted): Promise<ContactRecord[]> {
  const { total, offset, limit } = wanted;
  if (offset >= total) return [];
  if (total > FEW && offset + limit <= total / 100) {
    const rows = await pageByWalk(db, matching, wanted);
    if (rows.length === Math.min(limit, total - offset)) return rows;
  }
  return pageOfAll(db, matching, wanted);
}

const newestFirst = sql`order by c.created_at desc, c.id desc`;

/** Finds all, however the planner likes to, and cuts the page: its size must not tempt the planner to anything else. */
async function pageOfAll(db: Db, matching: Matching, { offset, limit }: PageWanted): Promise<ContactRecord[]> {
  const rows = await run<ContactRow>(
    db,
    sql`with found as materialized (select c.id, c.created_at ${contactsWhere(matching)}),
      page as (select c.id from found c ${newestFirst} limit ${limit} offset ${offset})
      select c.* from page join contacts c using (id) ${newestFirst}`,
  );
  return rows.map(contactRecord);
}

/** Where many match, the first of them are not far. The index by time has one run of entries for each subscription. */
async function pageByWalk(db: Db, matching: Matching, { offset, limit }: PageWanted): Promise<ContactRecord[]> {
  const { projectId, condition } = matching;
  const leg = (subscribed: boolean) =>
    sql`(select * from contacts c where c.project_id = ${projectId} and c.subscribed = ${subscribed} ${newestFirst} limit ${WALK})`;
  const rows = await run<ContactRow>(
    db,
    sql`select c.* from (
        select c.* from (${leg(true)} union all ${leg(false)}) c ${newestFirst} limit ${WALK}
      ) c where ${condition} ${newestFirst} limit ${limit} offset ${offset}`,
  );
  return rows.map(contactRecord);
}
