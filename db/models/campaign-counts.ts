import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';

// Counts the recipients of campaigns by state, exactly and without reading them: a trigger appends a delta in the
// transaction of every change, and `aggregateCampaignCounts` aggregates the deltas. Readers add the deltas that are left,
// in one snapshot. See docs/decisions/campaign-ledger.md.

const names = [
  'pending',
  'sent',
  'failed',
  'skipped',
  'cancelled',
  'unknown',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'hard_bounced',
  'complained',
  'unsubscribed',
  'refused',
] as const;
/** Counted in deltas of their own: a worker of the previous version aggregates the others without them. */
const humanNames = ['human_opened', 'human_clicked'] as const;
const allNames = [...names, ...humanNames] as const;

/** Each recipient counts in one of the first six; the others are the results of mails. */
export interface CampaignCounts {
  pending: number;
  sent: number;
  failed: number;
  skipped: number;
  cancelled: number;
  unknown: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  hardBounced: number;
  complained: number;
  unsubscribed: number;
  /** Refused recipients: FAILED, and counted in `bounced` and `hardBounced`. */
  refused: number;
  /** By people; the counts of opened and clicked include machines. */
  humanOpened: number;
  humanClicked: number;
}

type CountsRow = Record<(typeof allNames)[number], number> & { campaign_id: string };

const columns = allNames.join(', ');
/** Deltas of one kind, with zeros in the columns of the other. */
const deltaColumns = [...names, ...humanNames.map((name) => `0 as ${name}`)].join(', ');
const humanDeltaColumns = [...names.map((name) => `0 as ${name}`), ...humanNames].join(', ');

const read = statement<CountsRow>(
  'campaign-counts',
  `select wanted.campaign_id, ${allNames.map((name) => `coalesce(sum(${name}), 0)::integer as ${name}`).join(', ')}
   from unnest($1::uuid[]) as wanted (campaign_id)
   left join (
     select campaign_id, ${columns} from campaign_counts where campaign_id = any ($1::uuid[])
     union all
     select campaign_id, ${deltaColumns} from campaign_count_deltas where campaign_id = any ($1::uuid[])
     union all
     select campaign_id, ${humanDeltaColumns} from human_campaign_deltas where campaign_id = any ($1::uuid[])
   ) parts using (campaign_id)
   group by wanted.campaign_id`,
);

export async function readCampaignCounts(db: Db, ids: string[]): Promise<Map<string, CampaignCounts>> {
  const rows = ids.length > 0 ? await read(db, [ids]) : [];
  return new Map(
    rows.map(({ campaign_id, hard_bounced, human_opened, human_clicked, ...counts }) => [
      campaign_id,
      { ...counts, hardBounced: hard_bounced, humanOpened: human_opened, humanClicked: human_clicked },
    ]),
  );
}

export async function countsOfCampaign(db: Db, id: string): Promise<CampaignCounts> {
  return (await readCampaignCounts(db, [id])).get(id) ?? noCampaignCounts();
}

export const noCampaignCounts = (): CampaignCounts => ({
  pending: 0,
  sent: 0,
  failed: 0,
  skipped: 0,
  cancelled: 0,
  unknown: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  hardBounced: 0,
  complained: 0,
  unsubscribed: 0,
  refused: 0,
  humanOpened: 0,
  humanClicked: 0,
});

const AGGREGATION_LOCK = 0x63616d70; // "camp"
const BATCH_SIZE = 20_000;

// One process at a time. Drops the deltas of campaigns that no longer exist.
const aggregate = statement<{ aggregated: number }>(
  'campaign-counts-aggregate',
  `with aggregation_lock as materialized (select pg_try_advisory_xact_lock(${AGGREGATION_LOCK}) as locked),
   deltas as (
     delete from campaign_count_deltas where ctid = any (array(
       select d.ctid from campaign_count_deltas d where (select locked from aggregation_lock) limit $1 for update))
     returning *
   ),
   human_deltas as (
     delete from human_campaign_deltas where ctid = any (array(
       select d.ctid from human_campaign_deltas d where (select locked from aggregation_lock) limit $1 for update))
     returning *
   ),
   all_deltas as (
     select campaign_id, ${deltaColumns} from deltas union all select campaign_id, ${humanDeltaColumns} from human_deltas
   ),
   counted as (
     insert into campaign_counts as c (campaign_id, ${columns})
     select d.campaign_id, ${allNames.map((name) => `sum(d.${name})`).join(', ')}
     from all_deltas d join campaigns k on k.id = d.campaign_id
     group by d.campaign_id order by d.campaign_id
     on conflict (campaign_id) do update set ${allNames.map((name) => `${name} = c.${name} + excluded.${name}`).join(', ')}
   )
   select count(*)::integer as aggregated from all_deltas`,
);

/** Housekeeping: aggregates all deltas. Safe to run in several processes at once. */
export async function aggregateCampaignCounts(db: Db): Promise<number> {
  let total = 0;
  for (;;) {
    const aggregated = (await aggregate(db, [BATCH_SIZE]))[0]?.aggregated ?? 0;
    total += aggregated;
    if (aggregated < BATCH_SIZE) return total;
  }
}
