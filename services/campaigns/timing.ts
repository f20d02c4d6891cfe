// Who would get a campaign when, by local time: shown before it is sent.
import type { Db } from '../../db/connect.ts';
import { countMatching } from '../conditions/matching.ts';
import { guarded } from '../segments/guard.ts';
import { audienceOf } from './audience.ts';
import { findCampaign } from './find.ts';
import { firstMoment, momentIn, projectTimezone, requireLocalTime, zonesOf } from './local-time.ts';

export interface ZoneTiming {
  timezone: string;
  count: number;
  /** When its clocks show the time. */
  at: Date;
  /** Whether they have shown it already. */
  late: boolean;
}

export interface CampaignTiming {
  /** Null without recipients. */
  firstAt: Date | null;
  lastAt: Date | null;
  /** In the order of their moments. */
  zones: ZoneTiming[];
  /** Recipients without a time zone of their own: they are counted in the project's. */
  withoutTimezone: number;
  /** Recipients whose clocks have shown the time already. */
  late: number;
}

export async function campaignTiming(
  db: Db,
  projectId: string,
  id: string,
  given: unknown,
  now = new Date(),
): Promise<CampaignTiming> {
  // Answers 404 for another project's campaign before the time is read.
  const campaign = await findCampaign(db, projectId, id);
  const localTime = requireLocalTime(given, now.getTime());
  const [total, counted] = await guarded(db, projectId, async (trx) => {
    const audience = await audienceOf(trx, campaign);
    return [await countMatching(trx, audience), await zonesOf(trx, audience)] as const;
  });
  const counts = new Map(counted.map(({ timezone, count }) => [timezone, count]));
  const withoutTimezone = Math.max(0, total - counted.reduce((sum, { count }) => sum + count, 0));
  const own = await projectTimezone(db, projectId);
  if (withoutTimezone > 0) counts.set(own, (counts.get(own) ?? 0) + withoutTimezone);
  const first = firstMoment(localTime);
  const start = first > now ? first : now;
  const zones = [...counts]
    .map(([timezone, count]) => {
      const at = momentIn(localTime, timezone);
      return { timezone, count, at, late: at < start };
    })
    .toSorted((a, b) => a.at.getTime() - b.at.getTime() || b.count - a.count || (a.timezone < b.timezone ? -1 : 1));
  const late = zones.reduce((sum, zone) => sum + (zone.late ? zone.count : 0), 0);
  return { firstAt: zones[0]?.at ?? null, lastAt: zones.at(-1)?.at ?? null, zones, withoutTimezone, late };
}
