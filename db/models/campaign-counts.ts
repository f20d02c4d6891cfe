import type { Db } from '../connect.ts';
import { statement } from '../statement.ts';

// How the recipients of a campaign stand, exactly and without looking at them: a trigger notes what every change of a
// recipient means, in its own transaction, and `foldCampaignCounts` adds the notes up now and then. A reader adds up the
// rest, all in one snapshot. See docs/decisions/070-campaign-ledger.md.

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
] as const;

/** Each recipient is in one of the first six; the others say what has become of what was sent. */
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
}

type CountsRow = Record<(typeof names)[number], number> & { campaign_id: string };

const columns = names.join(', ');

const read = statement<CountsRow>(
  'campaign-counts',
  `select asked.campaign_id, ${names.map((name) => `coalesce(sum(${name}), 0)::integer as ${name}`).join(', ')}
   from unnest($1::uuid[]) as asked (campaign_id)
   left join (
     select campaign_id, ${columns} from campaign_counts where campaign_id = any ($1::uuid[])
     union all
     select campaign_id, ${columns} from campaign_count_deltas where campaign_id = any ($1::uuid[])
   ) parts using (campaign_id)
   group by asked.campaign_id`,
);

export async function readCampaignCounts(db: Db, ids: string[]): Promise<Map<string, CampaignCounts>> {
  const rows = ids.length > 0 ? await read(db, [ids]) : [];
  return new Map(
    rows.map(({ campaign_id, hard_bounced, ...counts }) => [campaign_id, { ...counts, hardBounced: hard_bounced }]),
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
});

const FOLD_LOCK = 0x63616d70; // "camp"
const FOLD_AT_ONCE = 20_000;

// One at a time. Notes of a campaign that is gone altogether go with it.
const fold = statement<{ folded: number }>(
  'campaign-counts-fold',
  `with turn as materialized (select pg_try_advisory_xact_lock(${FOLD_LOCK}) as mine),
   notes as (
     delete from campaign_count_deltas where ctid = any (array(
       select d.ctid from campaign_count_deltas d where (select mine from turn) limit $1 for update))
     returning *
   ),
   counted as (
     insert into campaign_counts as c (campaign_id, ${columns})
     select n.campaign_id, ${names.map((name) => `sum(n.${name})`).join(', ')}
     from notes n join campaigns k on k.id = n.campaign_id
     group by n.campaign_id order by n.campaign_id
     on conflict (campaign_id) do update set ${names.map((name) => `${name} = c.${name} + excluded.${name}`).join(', ')}
   )
   select count(*)::integer as folded from notes`,
);

/** Housekeeping: adds up what has been noted. Any number of processes may do it at any time. */
export async function aggregateCampaignCounts(db: Db): Promise<number> {
  let folded = 0;
  for (;;) {
    const now = (await fold(db, [FOLD_AT_ONCE]))[0]?.folded ?? 0;
    folded += now;
    if (now < FOLD_AT_ONCE) return folded;
  }
}
