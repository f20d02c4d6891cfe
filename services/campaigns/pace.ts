// Reads and writes `campaign_rates`: the measured rate of a campaign, and the reservations of its throttle.
import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import type { CampaignCounts } from '../../db/models/campaign-counts.ts';
import { statement } from '../../db/statement.ts';

/** How fast a campaign has been of late. */
export interface Pace {
  perSecond: number | null;
}

const read = statement<{ campaign_id: string; per_second: number | null }>(
  'campaign-paces',
  'select campaign_id, per_second from campaign_rates where campaign_id = any ($1::uuid[])',
);

export async function pacesOf(db: Db, ids: string[]): Promise<Map<string, Pace>> {
  const rows = ids.length > 0 ? await read(db, [ids]) : [];
  return new Map(rows.map(({ campaign_id, per_second }) => [campaign_id, { perSecond: per_second }]));
}

/** By what it has done of late, and no faster than it may. Null: there is nothing to go by, or it stands still. */
export function secondsLeft(
  { status, paused, ratePerMinute }: Pick<Campaign, 'status' | 'paused' | 'ratePerMinute'>,
  { pending }: CampaignCounts,
  pace: Pace | undefined,
): number | null {
  if (status !== 'SENDING' || paused) return null;
  const allowed = ratePerMinute === null ? Number.POSITIVE_INFINITY : ratePerMinute / 60;
  const perSecond = Math.min(pace?.perSecond ?? Number.POSITIVE_INFINITY, allowed);
  return Number.isFinite(perSecond) && perSecond > 0 ? Math.ceil(pending / perSecond) : null;
}

const sample = statement(
  'campaign-sample',
  `insert into campaign_rates as p (campaign_id, sampled_done) values ($1, $2)
   on conflict (campaign_id) do update set
     per_second = case when p.sampled_done > $2 then p.per_second else
       ($2 - p.sampled_done) / greatest(extract(epoch from now() - p.sampled_at), 0.001) * 0.5
         + coalesce(p.per_second, ($2 - p.sampled_done) / greatest(extract(epoch from now() - p.sampled_at), 0.001)) * 0.5
     end,
     sampled_at = now(), sampled_done = $2
   where p.sampled_at < now() - interval '2 seconds'`,
);

/** Notes how many are done by now; the pace is an average in which the past counts ever less. */
export async function sampleRate(db: Db, campaignId: string, done: number): Promise<void> {
  await sample(db, [campaignId, done]);
}

const restart = statement(
  'campaign-pace-restart',
  `insert into campaign_rates as p (campaign_id, sampled_done) values ($1, $2)
   on conflict (campaign_id) do update set next_at = now(), sampled_at = now(), sampled_done = $2`,
);

/** From here on it is measured: what it did not do while it stood still says nothing about its pace. */
export async function restartPace(db: Db, campaignId: string, done: number): Promise<void> {
  await restart(db, [campaignId, done]);
}

// Each mail moves the time of the next one on by its share of a minute. A campaign that has waited for its mails gains
// no more than a second by that.
const allow = statement<{ wait: number }>(
  'campaign-allow',
  `insert into campaign_rates as p (campaign_id, next_at) values ($1, now() + $2 * $3::float8 * interval '1 second')
   on conflict (campaign_id) do update
     set next_at = greatest(p.next_at, now() - interval '1 second') + $2 * $3::float8 * interval '1 second'
     where p.next_at <= now()
   returning 0 as wait`,
);
const waitOf = statement<{ wait: number }>(
  'campaign-allow-wait',
  'select extract(epoch from next_at - now())::float8 as wait from campaign_rates where campaign_id = $1',
);

/** Takes leave for so many mails; otherwise says after how many seconds to ask again. */
export async function reserveMailsOfThrottle(
  db: Db,
  campaignId: string,
  mails: number,
  ratePerMinute: number,
): Promise<{ granted: true } | { waitSeconds: number }> {
  const [granted] = await allow(db, [campaignId, mails, 60 / ratePerMinute]);
  if (granted) return { granted: true };
  const [row] = await waitOf(db, [campaignId]);
  return { waitSeconds: Math.max(row?.wait ?? 0, 0.01) };
}

/** When a throttled campaign may send again, where that is not now. */
export async function nextSendAt(
  db: Db,
  { id, ratePerMinute }: Pick<Campaign, 'id' | 'ratePerMinute'>,
): Promise<Date | undefined> {
  if (ratePerMinute === null) return undefined;
  const [row] = await leaveAt(db, [id]);
  return row?.next_at;
}

const leaveAt = statement<{ next_at: Date }>(
  'campaign-leave-at',
  'select next_at from campaign_rates where campaign_id = $1 and next_at > now()',
);
