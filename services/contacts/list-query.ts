import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import type { TopicState } from '../../db/models/topic.ts';
import { hasTopicState } from '../../db/models/topic-state.ts';
import { type Fragment, joined, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';

export type ContactSort = 'createdAt' | 'email';
export type Direction = 'asc' | 'desc';

export interface ContactFilter {
  /** A part of the address. */
  search?: string | undefined;
  /** A part of the address or of a name. */
  query?: string | undefined;
  /** The import that the contacts were in. */
  imported?: { projectId: string; jobId: string } | undefined;
  subscribed?: boolean | undefined;
  /** Keys of `data` with the required values, as texts of the query string. */
  data: [key: string, value: string][];
  /** The id of a topic, and its effective state. */
  topic?: { projectId: string; id: string; state: TopicState } | undefined;
}

export interface ListOrder {
  sort: ContactSort;
  dir: Direction;
}

/** The sort key of the last contact of the previous page. */
export interface RowKey {
  /** The address, or the time to the microsecond, which a Date cannot hold. */
  by: string;
  id: string;
}

export interface ContactPageQuery {
  projectId: string;
  /** Limits searches by index to the project, see `scopeOf`. */
  scope: Fragment;
  filter: ContactFilter;
  order: ListOrder;
  after: RowKey | undefined;
  limit: number;
}

export type PageRow = ContactRecord & { sortKey: string };

/** The most rows that a scan in list order reads to fill a page. */
const MAX_SCANNED = 10_000;

/** Counts the contacts that match the filter. */
export async function countMatches(
  db: Db,
  { scope, filter }: Pick<ContactPageQuery, 'scope' | 'filter'>,
): Promise<number> {
  const [row] = await queryRows<{ count: string }>(
    db,
    sql`select count(*) as count from contacts where ${scope} and ${indexed(filter)}`,
  );
  return Number(row?.count);
}

/**
 * Finds all matches by index, sorts them and cuts the page: for filters that few contacts match. `found` is the number of
 * matches; `most` limits the search.
 */
export function pageByIndex(
  db: Db,
  { scope, filter, order, after, limit }: ContactPageQuery,
  most?: number,
): Promise<(PageRow & { found: number })[]> {
  const limitMatches = most === undefined ? sql`` : sql`limit ${most}`;
  const matches = sql`select id, email, created_at from contacts where ${scope} and ${indexed(filter)} ${limitMatches}`;
  const page = sql`select id from matches where ${isAfter(order, after)} ${ordered(order)} limit ${limit}`;
  return queryRows<PageRow & { found: number }>(
    db,
    sql`with matches as materialized (${matches})
      select c.*, ${sortKeyOf(order)} as sort_key, (select count(*)::integer from matches) as found
      from (${page}) page join contacts c using (id) ${ordered(order)}`,
  );
}

/** Scans contacts in list order and keeps the matches. With fewer rows than the limit, matches may follow unscanned. */
export function pageByScan(db: Db, { projectId, filter, order, after, limit }: ContactPageQuery): Promise<PageRow[]> {
  const indexPrefixes = order.sort === 'email' ? [sql`true`] : subscriptionStates(filter);
  const match = notIndexed(order.sort === 'email' ? filter : { ...filter, subscribed: undefined });
  const maxRows = match ? MAX_SCANNED : limit;
  const scans = indexPrefixes.map(
    (prefix) => sql`(select * from contacts where project_id = ${projectId} and ${prefix} and ${isAfter(order, after)}
      ${ordered(order)} limit ${maxRows})`,
  );
  const scanned = sql`select * from (${joined(scans, ' union all ')}) scans ${ordered(order)} limit ${maxRows}`;
  return queryRows<PageRow>(
    db,
    sql`select *, ${sortKeyOf(order)} as sort_key from (${scanned}) contacts_in_order
      where ${match ?? sql`true`} ${ordered(order)} limit ${limit}`,
  );
}

/** The index by time begins with the subscription state. Without a filter both states are read and merged. */
const subscriptionStates = ({ subscribed }: ContactFilter): Fragment[] =>
  subscribed === undefined
    ? [sql`subscribed`, sql`not subscribed`]
    : [subscribed ? sql`subscribed` : sql`not subscribed`];

const all = (conditions: Fragment[]): Fragment | undefined =>
  conditions.length > 0 ? joined(conditions, ' and ') : undefined;

/** The filter as conditions that the indexes support. */
function indexed({ search, query, imported, subscribed, data, topic }: ContactFilter): Fragment {
  const conditions = data.map(([key, value]) => {
    const objects = jsonValues(value).map((json) => `{${JSON.stringify(key)}:${json}}`);
    return sql`data @> any (${objects}::jsonb[])`;
  });
  if (search) conditions.push(sql`email like ${containing(search)}`);
  if (query)
    conditions.push(sql`(email like ${containing(query)} or contact_names(data) like lower(${containing(query)}))`);
  if (imported)
    conditions.push(
      sql`id in (select contact_id from import_contacts i where i.project_id = ${imported.projectId} and i.job_id = ${imported.jobId})`,
    );
  if (subscribed !== undefined) conditions.push(sql`subscribed = ${subscribed}`);
  if (topic) conditions.push(hasState(topic));
  return all(conditions) ?? sql`true`;
}

/** The filter as conditions that no index supports, so that the planner reads in list order. */
function notIndexed({ search, query, imported, subscribed, data, topic }: ContactFilter): Fragment | undefined {
  const conditions = data.map(([key, value]) => sql`data -> ${key}::text = any (${jsonValues(value)}::jsonb[])`);
  if (search) conditions.push(sql`strpos(email, ${search}) > 0`);
  if (query)
    conditions.push(
      sql`(strpos(email, ${query}) > 0 or strpos(coalesce(contact_names(data), ''), lower(${query})) > 0)`,
    );
  if (imported)
    conditions.push(
      sql`exists (select 1 from import_contacts i where i.project_id = ${imported.projectId} and i.job_id = ${imported.jobId}
        and i.contact_id = contacts_in_order.id)`,
    );
  if (subscribed !== undefined) conditions.push(sql`(subscribed and true) = ${subscribed}`);
  if (topic) conditions.push(hasState(topic));
  return all(conditions);
}

const containing = (part: string): string => `%${part.replace(/[\\%_]/g, '\\$&')}%`;

const hasState = ({ projectId, id, state }: NonNullable<ContactFilter['topic']>): Fragment =>
  hasTopicState({ projectId, topicId: sql`${id}::uuid`, contact: { id: sql`id`, createdAt: sql`created_at` } }, state);

/** Returns the value as JSON text, and as a number or boolean if it is written like one. */
function jsonValues(value: string): string[] {
  const values = [JSON.stringify(value)];
  if (value === 'true' || value === 'false') values.push(value);
  const number = Number(value);
  if (/^-?\d+(\.\d+)?([eE][-+]?\d+)?$/.test(value) && Number.isFinite(number)) values.push(JSON.stringify(number));
  return values;
}

const ordered = ({ sort, dir }: ListOrder): Fragment => {
  if (sort === 'email') return dir === 'asc' ? sql`order by email` : sql`order by email desc`;
  return dir === 'asc' ? sql`order by created_at, id` : sql`order by created_at desc, id desc`;
};

function isAfter({ sort, dir }: ListOrder, after: RowKey | undefined): Fragment {
  if (!after) return sql`true`;
  if (sort === 'email') return dir === 'asc' ? sql`email > ${after.by}` : sql`email < ${after.by}`;
  const key = sql`(${after.by}::timestamptz, ${after.id}::uuid)`;
  return dir === 'asc' ? sql`(created_at, id) > ${key}` : sql`(created_at, id) < ${key}`;
}

const sortKeyOf = ({ sort }: ListOrder): Fragment =>
  sort === 'email' ? sql`email` : sql`to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
