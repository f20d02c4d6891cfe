// Sending by the clocks of recipients: when those of each time zone show a time, and what happens where they have shown it.
import type { Db } from '../../db/connect.ts';
import type { Campaign, Late } from '../../db/models/campaign.ts';
import { type Fragment, sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import { instantOf } from '../../platform/conditions/moments.ts';
import { badRequest } from '../../platform/errors.ts';
import { isTimezone, type LocalTime, zonedTime } from '../../platform/time-zones.ts';
import { contactsWhere, type Matching } from '../conditions/matching.ts';
import { timeZoneFor } from '../conditions/resolve.ts';

const HOUR_MS = 3_600_000;
const YEAR_MS = 366 * 24 * HOUR_MS;

/** Offsets of the first and of the last place on earth. */
const FIRST_OFFSET_MS = 14 * HOUR_MS;
const LAST_OFFSET_MS = -12 * HOUR_MS;

/** Returns the text of a usable local time, such as `2026-12-01T09:00`. */
export function requireLocalTime(given: unknown, now = Date.now()): string {
  const text = typeof given === 'string' ? given.trim() : '';
  const utc = instantOf(`${text}:00Z`);
  if (utc === undefined) throw badRequest('"localTime" must be a time without offset, such as 2026-12-01T09:00.');
  if (utc - LAST_OFFSET_MS <= now) throw badRequest('"localTime" has passed in every time zone.');
  if (utc - FIRST_OFFSET_MS > now + YEAR_MS) throw badRequest('"localTime" must be at most a year ahead.');
  return text;
}

/** When the first place on earth reaches a local time: the audience is frozen then. */
export const firstMoment = (localTime: string): Date =>
  new Date((instantOf(`${localTime}:00Z`) ?? 0) - FIRST_OFFSET_MS);

/** Returns when clocks of a time zone show it, this number of days later. */
export function momentIn(localTime: string, zone: string, daysLater = 0): Date {
  const [day = '', time = ''] = localTime.split('T');
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const first: Pick<LocalTime, 'year' | 'month' | 'day'> = { year, month, day: date + daysLater };
  return zonedTime(first, time, zone);
}

/**
 * Returns when recipients of a time zone get the email, by what happens to those whose clocks had shown the time before
 * `start`. Undefined: they are skipped.
 */
export function dueIn(localTime: string, zone: string, { late, start }: { late: Late; start: Date }): Date | undefined {
  const at = momentIn(localTime, zone);
  if (at >= start || late === 'NOW') return at;
  if (late === 'SKIP') return undefined;
  for (let days = 1; ; days++) {
    const later = momentIn(localTime, zone, days);
    if (later >= start) return later;
  }
}

/** Time zones have fewer than 700 names. More texts than this are not looked at: they come from the data of contacts. */
const MAX_ZONES = 1_000;

export interface ZoneCount {
  timezone: string;
  count: number;
}

const contactZone = sql`c.data ->> 'timezone'`;

/** Returns the time zones that the data of the selected contacts names. What is no time zone counts as none. */
export async function zonesOf(db: Db, audience: Matching): Promise<ZoneCount[]> {
  const known = Intl.supportedValuesOf('timeZone');
  const rows = await queryRows<ZoneCount>(
    db,
    sql`select timezone, count from (
          select ${contactZone} as timezone, count(*)::integer as count ${contactsWhere(audience)}
            and ${contactZone} ~ '^[A-Za-z][A-Za-z0-9_+/-]{1,63}$'
          group by 1
        ) zones order by timezone = any (${known}::text[]) desc, count desc, timezone limit ${MAX_ZONES}`,
  );
  return rows.filter(({ timezone }) => isTimezone(timezone));
}

export const projectTimezone = (db: Db, projectId: string): Promise<string> =>
  timeZoneFor(db, projectId, { needsTimeZone: true });

/**
 * SQL: the selected contacts with `status`, `reason` and `due_at` of their emails. A contact that gets a zone no other
 * recipient has while this is put together is taken for one without.
 */
export async function timedAudience(
  trx: Db,
  { projectId, scheduledFor, startedAt }: Campaign,
  { localTime, late, audience }: { localTime: string; late: Late; audience: Matching },
): Promise<Fragment> {
  // When sending was to start. The worker may be late, recipients are not for that.
  const start = scheduledFor ?? startedAt ?? new Date();
  const zones = (await zonesOf(trx, audience)).map(({ timezone }) => timezone);
  const own = await projectTimezone(trx, projectId);
  const due = (zone: string) => dueIn(localTime, zone, { late, start })?.toISOString() ?? null;
  return sql`select c.id, c.project_id,
      case when moment.due_at is null then 'SKIPPED' else 'PENDING' end as status,
      case when moment.due_at is null then 'too late' when moment.due_at > now() then 'local time' end as reason,
      greatest(moment.due_at, now()) as due_at
    from (select c.id, c.project_id, ${contactZone} as timezone ${contactsWhere(audience)}) c
    left join unnest(${zones}::text[], ${zones.map(due)}::timestamptz[]) as zone (name, due_at) on zone.name = c.timezone
    cross join lateral (
      select case when zone.name is null then ${due(own)}::timestamptz else zone.due_at end as due_at) moment`;
}
