import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Range } from '../range.ts';

export interface EventRow {
  id: string;
  name: string;
  data: Record<string, unknown>;
  contact_id: string;
  email_id: string | null;
  created_at: Date;
  /** `activity_type` of the database: what it is in the feed. */
  type: string;
  /** In microseconds since 1970, which a Date does not hold. */
  at: string;
}

/** A place in a list by time, the newest first. */
export interface Place {
  at: string;
  id: string;
}

/** Whose list goes on behind `before`, within `range`. */
export interface Stretch {
  before: Place | null;
  range: Partial<Range>;
  limit: number;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** $2 to $6 of every statement here, behind the project. */
export const stretchValues = ({ before, range, limit }: Stretch): unknown[] => [
  ...beginning(before, range.to),
  range.from ?? '-infinity',
  range.to ?? 'infinity',
  limit,
];

/**
 * The one place that the walk goes back from: where the page before has ended, or where the range does. Told apart, the
 * index would be read from the former on, and all that is newer than the range with it.
 */
function beginning(before: Place | null, to: Date | undefined): [at: string | null, id: string] {
  const end = to && BigInt(to.getTime()) * 1000n;
  if (end !== undefined && (!before || BigInt(before.at) >= end)) return [String(end), FIRST_ID];
  return before ? [before.at, before.id] : [null, LAST_ID];
}

export const micros = (at: string): string => `(extract(epoch from ${at}) * 1000000)::bigint`;
const BEFORE = `coalesce(timestamptz 'epoch' + $2::bigint * interval '1 microsecond', 'infinity')`;

/** That a row lies on the stretch; in part said twice, so that months which do not are never looked at. */
export const onStretch = (at: string, id: string, compared: '<' | '<=' = '<'): string =>
  `(${at}, ${id}) ${compared} (${BEFORE}, $3::uuid) and ${at} <= ${BEFORE}
   and ${at} >= $4::timestamptz and ${at} < $5::timestamptz`;

const COLUMNS = `id, name, data, contact_id, email_id, created_at, activity_type(name, data) as type,
  ${micros('created_at')} as at`;

const newest = (condition: string): string => `
  select ${COLUMNS} from events
  where project_id = $1 and ${condition} and ${onStretch('created_at', 'id')}
  order by created_at desc, id desc limit $6`;

// One walk for each type, cut where the page must end: the same work however many events there are.
const ofTypes = statement<EventRow>(
  'events-newest',
  `select found.* from unnest((select $7::text[])) as wanted (type)
   cross join lateral (${newest('activity_type(name, data) = wanted.type')}) found
   order by found.created_at desc, found.id desc limit $6`,
);
// A sub-query, so that the plan does not depend on the name: it is the same for all, and made once for all months.
const ofName = statement<EventRow>('events-newest-of-name', newest('name = (select $7::text)'));
const ofContact = statement<EventRow>(
  'events-newest-of-contact',
  newest('contact_id = $7 and ($8::text[] is null or activity_type(name, data) = any ($8::text[]))'),
);

export const newestEvents = (db: Db, projectId: string, types: readonly string[], stretch: Stretch) =>
  ofTypes(db, [projectId, ...stretchValues(stretch), types]);

export const newestEventsOfName = (db: Db, projectId: string, name: string, stretch: Stretch) =>
  ofName(db, [projectId, ...stretchValues(stretch), name]);

export const newestEventsOfContact = (
  db: Db,
  projectId: string,
  contactId: string,
  stretch: Stretch,
  types: readonly string[] | null = null,
) => ofContact(db, [projectId, ...stretchValues(stretch), contactId, types]);
