import type { Db } from '../../db/connect.ts';
import type { ContactRow } from '../../db/models/contact.ts';
import { type Fragment, joined, run, sql } from '../conditions/fragment.ts';

export type ContactSort = 'createdAt' | 'email';
export type Direction = 'asc' | 'desc';

export interface ContactFilter {
  /** A part of the address. */
  search?: string | undefined;
  subscribed?: boolean | undefined;
  /** Keys of `data` and the values they must have, as a query string gives them. */
  data: [key: string, value: string][];
}

export interface ListOrder {
  sort: ContactSort;
  dir: Direction;
}

/** The last contact of the page before, by what it is sorted by. */
export interface Place {
  /** The address, or the time to the microsecond, which a Date cannot hold. */
  by: string;
  id: string;
}

export interface PageQuery {
  projectId: string;
  /** For searches by index, see `scopeOf`. */
  scope: Fragment;
  filter: ContactFilter;
  order: ListOrder;
  after: Place | undefined;
  limit: number;
}

export type PageRow = ContactRow & { place: string };

/** How far a list is walked in its order, looking for contacts that pass the filter, before it is given up. */
const WALK = 10_000;

/** The exact number of contacts that pass. */
export async function countMatching(db: Db, { scope, filter }: Pick<PageQuery, 'scope' | 'filter'>): Promise<number> {
  const [row] = await run<{ count: string }>(
    db,
    sql`select count(*) as count from contacts where ${scope} and ${indexed(filter)}`,
  );
  return Number(row?.count);
}

/**
 * Finds all that pass by their indexes, then cuts the page: for filters that few contacts pass. `found` is how many
 * there are; with `most`, no more than that are looked for.
 */
export function pageOfFew(
  db: Db,
  { scope, filter, order, after, limit }: PageQuery,
  most?: number,
): Promise<(PageRow & { found: number })[]> {
  const bound = most === undefined ? sql`` : sql`limit ${most}`;
  const hits = sql`select id, email, created_at from contacts where ${scope} and ${indexed(filter)} ${bound}`;
  const page = sql`select id from hits where ${beyond(order, after)} ${ordered(order)} limit ${limit}`;
  return run(
    db,
    sql`with hits as materialized (${hits})
      select c.*, ${placeOf(order)} as place, (select count(*)::integer from hits) as found
      from (${page}) page join contacts c using (id) ${ordered(order)}`,
  );
}

/** Goes along the order and keeps what passes. Fewer rows than asked for: there may be more, further than it went. */
export function pageByWalk(db: Db, { projectId, filter, order, after, limit }: PageQuery): Promise<PageRow[]> {
  const ways = order.sort === 'email' ? [sql`true`] : subscriptions(filter);
  const passing = checked(order.sort === 'email' ? filter : { ...filter, subscribed: undefined });
  const steps = passing ? WALK : limit;
  const legs = ways.map(
    (way) => sql`(select * from contacts where project_id = ${projectId} and ${way} and ${beyond(order, after)}
      ${ordered(order)} limit ${steps})`,
  );
  const walked = sql`select * from (${joined(legs, ' union all ')}) legs ${ordered(order)} limit ${steps}`;
  return run(
    db,
    sql`select *, ${placeOf(order)} as place from (${walked}) walked
      where ${passing ?? sql`true`} ${ordered(order)} limit ${limit}`,
  );
}

/** The index by time has one run of entries for each state; without a filter they are merged. */
const subscriptions = ({ subscribed }: ContactFilter): Fragment[] =>
  subscribed === undefined
    ? [sql`subscribed`, sql`not subscribed`]
    : [subscribed ? sql`subscribed` : sql`not subscribed`];

const all = (conditions: Fragment[]): Fragment | undefined =>
  conditions.length > 0 ? joined(conditions, ' and ') : undefined;

/** The filter in words that the indexes understand. */
function indexed({ search, subscribed, data }: ContactFilter): Fragment {
  const conditions = data.map(([key, value]) => {
    const objects = jsonValues(value).map((json) => `{${JSON.stringify(key)}:${json}}`);
    return sql`data @> any (${objects}::jsonb[])`;
  });
  if (search) conditions.push(sql`email like ${`%${search.replace(/[\\%_]/g, '\\$&')}%`}`);
  if (subscribed !== undefined) conditions.push(sql`subscribed = ${subscribed}`);
  return all(conditions) ?? sql`true`;
}

/** The filter in words that no index understands, so that nothing tempts the planner away from the order. */
function checked({ search, subscribed, data }: ContactFilter): Fragment | undefined {
  const conditions = data.map(([key, value]) => sql`data -> ${key}::text = any (${jsonValues(value)}::jsonb[])`);
  if (search) conditions.push(sql`strpos(email, ${search}) > 0`);
  if (subscribed !== undefined) conditions.push(sql`(subscribed and true) = ${subscribed}`);
  return all(conditions);
}

/** A text, and the number or the boolean that looks the same. */
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

function beyond({ sort, dir }: ListOrder, after: Place | undefined): Fragment {
  if (!after) return sql`true`;
  if (sort === 'email') return dir === 'asc' ? sql`email > ${after.by}` : sql`email < ${after.by}`;
  const place = sql`(${after.by}::timestamptz, ${after.id}::uuid)`;
  return dir === 'asc' ? sql`(created_at, id) > ${place}` : sql`(created_at, id) < ${place}`;
}

const placeOf = ({ sort }: ListOrder): Fragment =>
  sort === 'email' ? sql`email` : sql`to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
