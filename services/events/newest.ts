import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Range } from '../range.ts';

export interface EventRow {
  id: string;
  name: string;
  data: Record<string, unknown>;
  contactId: string;
  emailId: string | null;
  createdAt: Date;
  /** Its type in the activity feed, by the database function `activity_type`. */
  type: string;
  /** Microseconds since 1970, which a Date cannot hold. */
  at: string;
}

/** The sort key of a list by time, the newest first. */
export interface TimeKey {
  at: string;
  id: string;
}

/** A page of a list by time: the rows after `before`, within `range`. */
export interface TimePage {
  before: TimeKey | null;
  range: Partial<Range>;
  limit: number;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The parameters $2 to $6 of a statement with `inTimePage`; $1 is the project. */
export const timePageValues = ({ before, range, limit }: TimePage): unknown[] => [
  ...startOf(before, range.to),
  range.from ?? '-infinity',
  range.to ?? 'infinity',
  limit,
];

/**
 * Returns the earlier of the end of the previous page and the end of the range. As two conditions, Postgres would start the
 * index scan at the former and read all that is newer than the range.
 */
function startOf(before: TimeKey | null, to: Date | undefined): [at: string | null, id: string] {
  const end = to && BigInt(to.getTime()) * 1000n;
  if (end !== undefined && (!before || BigInt(before.at) >= end)) return [String(end), FIRST_ID];
  return before ? [before.at, before.id] : [null, LAST_ID];
}

export const micros = (at: string): string => `(extract(epoch from ${at}) * 1000000)::bigint`;
const BEFORE = `coalesce(timestamptz 'epoch' + $2::bigint * interval '1 microsecond', 'infinity')`;

/** SQL: whether a row is on the page. The redundant conditions let Postgres skip partitions of other months. */
export const inTimePage = (at: string, id: string, compared: '<' | '<=' = '<'): string =>
  `(${at}, ${id}) ${compared} (${BEFORE}, $3::uuid) and ${at} <= ${BEFORE}
   and ${at} >= $4::timestamptz and ${at} < $5::timestamptz`;

const COLUMNS = `id, name, data, contact_id, email_id, created_at, activity_type(name, data) as type,
  ${micros('created_at')} as at`;

const newest = (condition: string): string => `
  select ${COLUMNS} from events
  where project_id = $1 and ${condition} and ${inTimePage('created_at', 'id')}
  order by created_at desc, id desc limit $6`;

// One index scan per type, each limited to a page: the cost does not depend on the number of events.
const ofTypes = statement<EventRow>(
  'events-newest',
  `select found.* from unnest((select $7::text[])) as wanted (type)
   cross join lateral (${newest('activity_type(name, data) = wanted.type')}) found
   order by found.created_at desc, found.id desc limit $6`,
);
// A sub-query, so that Postgres uses one generic plan for all names instead of planning all partitions anew.
const ofName = statement<EventRow>('events-newest-of-name', newest('name = (select $7::text)'));
const ofContact = statement<EventRow>(
  'events-newest-of-contact',
  newest('contact_id = $7 and ($8::text[] is null or activity_type(name, data) = any ($8::text[]))'),
);

export const newestEvents = (db: Db, projectId: string, types: readonly string[], page: TimePage) =>
  ofTypes(db, [projectId, ...timePageValues(page), types]);

export const newestEventsOfName = (db: Db, projectId: string, name: string, page: TimePage) =>
  ofName(db, [projectId, ...timePageValues(page), name]);

export const newestEventsOfContact = (
  db: Db,
  projectId: string,
  contactId: string,
  page: TimePage,
  types: readonly string[] | null = null,
) => ofContact(db, [projectId, ...timePageValues(page), contactId, types]);
