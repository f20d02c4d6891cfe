import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';

// Counts what happened to mails by template, recipient domain and link. Aggregated from the same deltas, by the same
// statement, as the counts of events, so they are a few seconds behind and cost a mail nothing. See
// docs/decisions/counts.md.

const names = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'human_opened',
  'human_clicked',
  'people_opened',
  'bounced',
  'complained',
  'failed',
] as const;
type CountName = (typeof names)[number];

export interface MailCounts {
  sent: number;
  delivered: number;
  opened: number;
  clicked: number;
  /** By people; the two before include machines. */
  humanOpened: number;
  humanClicked: number;
  /** Opened or clicked by a person. */
  peopleOpened: number;
  bounced: number;
  complained: number;
  failed: number;
}

/** The events that raise each count, as a condition on `mail_events`. */
const raisedBy: Record<CountName, string> = {
  sent: "kind = 'sent' and is_first",
  delivered: "kind = 'delivery' and is_first",
  opened: "kind = 'open' and is_first",
  clicked: "kind = 'click' and is_first",
  human_opened: "kind = 'open' and is_first_human",
  human_clicked: "kind = 'click' and is_first_human",
  people_opened: 'is_first_reading',
  bounced: "kind = 'bounce' and is_first",
  complained: "kind = 'complaint' and is_first",
  failed: "kind = 'failed' and is_first",
};

const columns = names.join(', ');
const sums = names.map((name) => `sum(${name}) as ${name}`).join(', ');
const added = (more: readonly string[] = names) =>
  more.map((name) => `${name} = known.${name} + excluded.${name}`).join(', ');

/** The campaign of clicks in emails that belong to none. */
export const NO_CAMPAIGN = '00000000-0000-0000-0000-000000000000';

/** How many domains of a day or a campaign, or links of a campaign, are counted separately. */
const MAX_ITEMS = 1_000;
/** Fewer, because the links of many days are summed up. */
const MAX_LINKS_A_DAY = 400;

/**
 * SQL: replaces the items of `source` that a full scope does not have yet with 'other'. `scope` are the columns that
 * limit the number of items.
 */
const capped = (table: string, scope: string[], item: string, source: string, max = MAX_ITEMS): string => {
  const same = (other: string) => scope.map((column) => `${other}.${column} = s.${column}`).join(' and ');
  return `(
    select s.*, case when known.${item} is not null or row_number() over (
        partition by ${scope.map((column) => `s.${column}`).join(', ')}, known.${item} is null order by s.${item}
      ) + (select count(*) from ${table} k where ${same('k')}) <= ${max} then s.${item}::text end as kept
    from ${source} s left join ${table} known on ${same('known')} and known.${item} = s.${item}
  )`;
};

/**
 * CTEs that count the events of `deltas (name, at, event_id)` about mails. A link that a campaign or a template writes with
 * variables is one entry, as the body has it. Any other link that is not in the body was made for one recipient; it is counted without
 * its query, which may contain personal data.
 */
export const countMails = `
  mail_events as materialized (
    select d.project_id, d.at, date_trunc('day', d.at, 'UTC') as day, substr(d.name, 7) as kind, m.id as email_id, m.campaign_id,
      coalesce(m.template_id, k.template_id) as template_id,
      coalesce(nullif(split_part(coalesce(m.to_email, p.email), '@', 2), ''), 'unknown') as domain,
      coalesce((e.data ->> 'isFirst')::boolean, true) as is_first,
      coalesce((e.data ->> 'isFirstHuman')::boolean, false) as is_first_human,
      coalesce((e.data ->> 'isFirstReading')::boolean, false) as is_first_reading,
      coalesce((e.data ->> 'machine')::boolean, false) as machine, e.data ->> 'link' as link,
      (e.data ->> 'linkIndex')::smallint as place
    from deltas d
    join events e on e.id = d.event_id and e.created_at = d.at
    join emails m on m.id = e.email_id
    left join campaigns k on k.id = m.campaign_id
    left join contacts p on p.id = m.contact_id
    where d.event_id is not null
  ),
  mail_counts as materialized (
    select project_id, day, campaign_id, template_id, domain,
      ${names.map((name) => `count(*) filter (where ${raisedBy[name]}) as ${name}`).join(', ')}
    from mail_events where is_first or is_first_human group by 1, 2, 3, 4, 5
  ),
  template_counts as (
    insert into template_days as known (project_id, day, template_id, ${columns})
    select project_id, day, template_id, ${sums} from mail_counts where template_id is not null
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (project_id, day, template_id) do update set ${added()}
  ),
  domain_counts as (
    insert into domain_days as known (project_id, day, domain, ${columns})
    select project_id, day, coalesce(kept, 'other'), ${sums} from ${capped(
      'domain_days',
      ['project_id', 'day'],
      'domain',
      `(select project_id, day, domain, ${sums} from mail_counts group by 1, 2, 3)`,
    )} items group by 1, 2, 3 order by 1, 2, 3
    on conflict (project_id, day, domain) do update set ${added()}
  ),
  campaign_domain_counts as (
    insert into campaign_domains as known (campaign_id, domain, ${columns})
    select campaign_id, coalesce(kept, 'other'), ${sums} from ${capped(
      'campaign_domains',
      ['campaign_id'],
      'domain',
      `(select campaign_id, domain, ${sums} from mail_counts join campaigns k on k.id = campaign_id group by 1, 2)`,
    )} items group by 1, 2 order by 1, 2
    on conflict (campaign_id, domain) do update set ${added()}
  ),
  click_events as materialized (
    select project_id, at, day, campaign_id, case when campaign_id is null then template_id end as template_id, email_id,
      machine, link, place
    from mail_events where kind = 'click' and link is not null
  ),
  clicked_bodies as materialized (
    select c.*, coalesce(k.body, t.body) as body
    from (select distinct project_id, campaign_id, template_id from click_events) c
    left join campaigns k on k.id = c.campaign_id
    left join templates t on t.id = c.template_id and t.project_id = c.project_id
  ),
  written_links as materialized (
    select b.campaign_id, b.template_id, l.href, l.pattern from clicked_bodies b cross join lateral template_links(b.body) l
  ),
  clicked_links as materialized (
    select c.*, case
        when w.href is not null then w.href
        when position(c.link in b.body) > 0 or position(replace(c.link, '&', '&amp;') in b.body) > 0 then c.link
        else split_part(split_part(c.link, '#', 1), '?', 1)
      end as shown
    from (select distinct project_id, campaign_id, template_id, link from click_events) c
    join clicked_bodies b on b.project_id = c.project_id and b.campaign_id is not distinct from c.campaign_id
      and b.template_id is not distinct from c.template_id
    left join lateral (
      select w.href from written_links w
      where w.campaign_id is not distinct from c.campaign_id and w.template_id is not distinct from c.template_id
        and (w.href = c.link or c.link ~ w.pattern)
      order by w.href <> c.link, length(w.pattern) desc, w.href limit 1
    ) w on true
  ),
  all_clicks as materialized (
    select c.project_id, c.at, c.day, c.campaign_id, c.email_id, c.machine, c.place,
      md5(l.shown)::uuid as link_id, l.shown as link
    from click_events c
    join clicked_links l on l.project_id = c.project_id and l.campaign_id is not distinct from c.campaign_id
      and l.template_id is not distinct from c.template_id and l.link = c.link
  ),
  addresses as (
    insert into links (project_id, id, link) select distinct project_id, link_id, link from all_clicks order by 1, 2
    on conflict do nothing
  ),
  link_day_counts as (
    insert into link_days as known (project_id, day, link_id, link, clicks, human_clicks)
    select project_id, day, coalesce(kept, md5('other'))::uuid, case when kept is null then 'other' else min(link) end,
      sum(clicks), sum(human_clicks)
    from ${capped(
      'link_days',
      ['project_id', 'day'],
      'link_id',
      `(select project_id, day, link_id, min(link) as link, count(*) as clicks,
          count(*) filter (where not machine) as human_clicks
        from all_clicks group by 1, 2, 3)`,
      MAX_LINKS_A_DAY,
    )} items group by 1, 2, kept order by 1, 2, 3
    on conflict (project_id, day, link_id) do update set ${added(['clicks', 'human_clicks'])}
  ),
  clicks as materialized (select c.* from all_clicks c join campaigns k on k.id = c.campaign_id),
  first_clicks as (
    insert into campaign_link_clicks as known (project_id, campaign_id, link_id, email_id, first_at, human, places)
    select project_id, coalesce(campaign_id, '${NO_CAMPAIGN}'), link_id, email_id, min(at), bool_or(not machine),
      array_agg(distinct place order by place) filter (where not machine and place is not null)
    from all_clicks group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (project_id, campaign_id, link_id, email_id) do update set human = true,
        places = array(select distinct unnest(known.places || excluded.places) order by 1)
      where excluded.human and (known.human is not true or not coalesce(excluded.places, '{}') <@ coalesce(known.places, '{}'))
    returning known.campaign_id, known.link_id, old.email_id is null as is_first,
      new.human and old.human is not true as is_first_human
  ),
  link_counts as (
    insert into campaign_links as known (campaign_id, link_id, link, clicks, unique_clicks, human_clicks,
      unique_human_clicks, first_at, last_at)
    select campaign_id, coalesce(kept, md5('other'))::uuid, case when kept is null then 'other' else min(link) end,
      sum(clicks), sum(unique_clicks), sum(human_clicks), sum(unique_human_clicks), min(first_at), max(last_at)
    from ${capped(
      'campaign_links',
      ['campaign_id'],
      'link_id',
      `(select campaign_id, link_id, min(link) as link, count(*) as clicks,
          (select count(*) from first_clicks f
           where f.campaign_id = clicks.campaign_id and f.link_id = clicks.link_id and f.is_first) as unique_clicks,
          count(*) filter (where not machine) as human_clicks,
          (select count(*) from first_clicks f
           where f.campaign_id = clicks.campaign_id and f.link_id = clicks.link_id and f.is_first_human)
            as unique_human_clicks,
          min(at) filter (where not machine) as first_at, max(at) filter (where not machine) as last_at
        from clicks group by 1, 2)`,
    )} items group by 1, kept order by 1, 2
    on conflict (campaign_id, link_id) do update set
      ${added(['clicks', 'unique_clicks', 'human_clicks', 'unique_human_clicks'])},
      first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at)
  )`;

type CountsRow = Record<keyof MailCounts, string>;

const countsOf = (row: CountsRow): MailCounts => ({
  sent: Number(row.sent),
  delivered: Number(row.delivered),
  opened: Number(row.opened),
  clicked: Number(row.clicked),
  humanOpened: Number(row.humanOpened),
  humanClicked: Number(row.humanClicked),
  peopleOpened: Number(row.peopleOpened),
  bounced: Number(row.bounced),
  complained: Number(row.complained),
  failed: Number(row.failed),
});

const linksOf = statement<LinkRow>(
  'campaign-links',
  `select link_id, link, clicks, unique_clicks, human_clicks, unique_human_clicks, first_at, last_at
   from campaign_links where campaign_id = $1 order by clicks desc, link limit $2`,
);

interface LinkRow {
  linkId: string;
  link: string;
  clicks: string;
  uniqueClicks: string;
  humanClicks: string;
  uniqueHumanClicks: string;
  firstAt: Date | null;
  lastAt: Date | null;
}

export interface LinkCount {
  /** The same for the same address. */
  linkId: string;
  link: string;
  clicks: number;
  uniqueClicks: number;
  /** By people; the two before include machines. */
  humanClicks: number;
  uniqueHumanClicks: number;
  /** Clicks by people. */
  firstAt: Date | null;
  lastAt: Date | null;
}

/** Returns the links of a campaign, the most clicked first. */
export async function readCampaignLinks(db: Db, campaignId: string, limit: number): Promise<LinkCount[]> {
  const rows = await linksOf(db, [campaignId, limit]);
  return rows.map(({ clicks, uniqueClicks, humanClicks, uniqueHumanClicks, ...row }) => ({
    ...row,
    clicks: Number(clicks),
    uniqueClicks: Number(uniqueClicks),
    humanClicks: Number(humanClicks),
    uniqueHumanClicks: Number(uniqueHumanClicks),
  }));
}

const domainsOf = statement<CountsRow & { domain: string }>(
  'campaign-domains',
  `select domain, ${columns} from campaign_domains where campaign_id = $1 order by sent desc, failed desc, domain limit $2`,
);

export type DomainCounts = MailCounts & { domain: string };

/** Returns the recipient domains of a campaign, the largest first. */
export async function readCampaignDomains(db: Db, campaignId: string, limit: number): Promise<DomainCounts[]> {
  const rows = await domainsOf(db, [campaignId, limit]);
  return rows.map((row) => ({ domain: row.domain, ...countsOf(row) }));
}

interface DayRange {
  from: Date;
  to: Date;
}

const byTemplate = statement<CountsRow & { templateId: string; name: string | null }>(
  'template-days',
  `select counted.*, t.name from (
     select template_id, ${sums} from template_days where project_id = $1 and day >= $2 and day < $3 group by template_id
     order by sum(sent) desc, template_id limit $4
   ) counted left join templates t on t.id = counted.template_id and t.project_id = $1
   order by counted.sent desc, counted.template_id`,
);

/** `name` is null once the template is deleted. */
export type TemplateCounts = MailCounts & { templateId: string; name: string | null };

/** Returns the counts of whole days of UTC, the templates with most mail first. */
export async function readTemplateCounts(
  db: Db,
  projectId: string,
  { from, to }: DayRange,
  limit: number,
): Promise<TemplateCounts[]> {
  const rows = await byTemplate(db, [projectId, from, to, limit]);
  return rows.map((row) => ({ templateId: row.templateId, name: row.name, ...countsOf(row) }));
}

// Finds the domains by one sum, and adds the others up only for those: there are up to a thousand domains a day.
const byDomain = statement<CountsRow & { domain: string }>(
  'domain-days',
  `select domain, ${sums} from domain_days where project_id = $1 and day >= $2 and day < $3 and domain = any (array(
     select domain from domain_days where project_id = $1 and day >= $2 and day < $3 group by domain
     order by sum(sent) desc, domain limit $4))
   group by domain order by sum(sent) desc, domain`,
);

/** Returns the counts of whole days of UTC, the domains with most mail first. */
export async function readDomainCounts(
  db: Db,
  projectId: string,
  { from, to }: DayRange,
  limit: number,
): Promise<DomainCounts[]> {
  const rows = await byDomain(db, [projectId, from, to, limit]);
  return rows.map((row) => ({ domain: row.domain, ...countsOf(row) }));
}

// Reads the addresses, which may be long, only of those that may be among the first.
const topLinks = statement<{ link: string; clicks: string; humanClicks: string }>(
  'link-days',
  `select shown.link, top.clicks, top.human_clicks from (
     select link_id, sum(clicks) as clicks, sum(human_clicks) as human_clicks from link_days
     where project_id = $1 and day >= $2 and day < $3 group by link_id
     order by sum(human_clicks) desc, sum(clicks) desc fetch first $4 rows with ties
   ) top, lateral (
     select link from link_days d
     where d.project_id = $1 and d.day >= $2 and d.day < $3 and d.link_id = top.link_id limit 1
   ) shown
   order by top.human_clicks desc, top.clicks desc, shown.link limit $4`,
);

export type TopLink = Pick<LinkCount, 'link' | 'clicks' | 'humanClicks'>;

/** Returns the counts of whole days of UTC, the links that people clicked most first. */
export async function readTopLinks(
  db: Db,
  projectId: string,
  { from, to }: DayRange,
  limit: number,
): Promise<TopLink[]> {
  const rows = await topLinks(db, [projectId, from, to, limit]);
  return rows.map(({ link, clicks, humanClicks }) => ({
    link,
    clicks: Number(clicks),
    humanClicks: Number(humanClicks),
  }));
}
