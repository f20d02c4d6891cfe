// Reads and writes `campaign_rates`: the measured rate of a campaign, and the reservations of its throttle.
import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import type { CampaignCounts } from '../../db/models/campaign-counts.ts';
import { statement } from '../../db/statement.ts';

/** The recent rate of a campaign. */
export interface CampaignRate {
  perSecond: number | null;
  slowedDomains: SlowedDomain[];
}

/** A recipient domain that gets less mail now because it deferred some. */
export interface SlowedDomain {
  domain: string;
  /** Mails a second. */
  perSecond: number;
}

const read = statement<{ campaignId: string; perSecond: number | null; slowedDomains: SlowedDomain[] }>(
  'campaign-rates',
  'select campaign_id, per_second, slowed_domains from campaign_rates where campaign_id = any ($1::uuid[])',
);

export async function campaignRatesOf(db: Db, ids: string[]): Promise<Map<string, CampaignRate>> {
  const rows = ids.length > 0 ? await read(db, [ids]) : [];
  return new Map(rows.map(({ campaignId, perSecond, slowedDomains }) => [campaignId, { perSecond, slowedDomains }]));
}

/** Estimates the time left from the recent rate and the throttle. Null: no rate is known, or the campaign is paused or waits for local times. */
export function secondsLeft(
  { status, paused, ratePerMinute, localTime }: Pick<Campaign, 'status' | 'paused' | 'ratePerMinute' | 'localTime'>,
  { pending }: CampaignCounts,
  rate: Pick<CampaignRate, 'perSecond'> | undefined,
): number | null {
  // By local time, most of the time left is waiting.
  if (status !== 'SENDING' || paused || localTime !== null) return null;
  const allowed = ratePerMinute === null ? Number.POSITIVE_INFINITY : ratePerMinute / 60;
  const perSecond = Math.min(rate?.perSecond ?? Number.POSITIVE_INFINITY, allowed);
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

/** Records how many recipients are done. The rate is an exponential average. */
export async function sampleRate(db: Db, campaignId: string, done: number): Promise<void> {
  await sample(db, [campaignId, done]);
}

const setSlowed = statement(
  'campaign-slowed-domains',
  `insert into campaign_rates as p (campaign_id, slowed_domains) values ($1, $2)
   on conflict (campaign_id) do update set slowed_domains = excluded.slowed_domains
   where p.slowed_domains <> excluded.slowed_domains`,
);

/** Records which recipient domains of a campaign are slowed down. */
export async function recordSlowedDomains(db: Db, campaignId: string, domains: SlowedDomain[]): Promise<void> {
  await setSlowed(db, [campaignId, JSON.stringify(domains)]);
}

const restart = statement(
  'campaign-rate-restart',
  `insert into campaign_rates as p (campaign_id, sampled_done) values ($1, $2)
   on conflict (campaign_id) do update set sampled_at = now(), sampled_done = $2`,
);

/** Measures from now on: the time in which the campaign was paused must not count. The throttle is not changed. */
export async function restartRate(db: Db, campaignId: string, done: number): Promise<void> {
  await restart(db, [campaignId, done]);
}

// Each mail moves the time of the next one by its share of a minute. Unused time is lost, except for one second.
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

/** Reserves this many mails, or returns after how many seconds to ask again. */
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
