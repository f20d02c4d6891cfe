import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

export const categories = ['transactional', 'campaigns', 'workflows'] as const;
export type Category = (typeof categories)[number];
export type Categories<T> = Record<Category, T>;

/** The source types in the ledger. */
export const sources: Categories<string> = {
  transactional: 'TRANSACTIONAL',
  campaigns: 'CAMPAIGN',
  workflows: 'WORKFLOW',
};

export interface Use {
  used: number;
  limit: number | null;
}

export interface Consumption extends Categories<Use> {
  periodStart: Date;
  periodEnd: Date;
}

interface Row {
  periodStart: Date;
  periodEnd: Date;
  transactional: string;
  campaigns: string;
  workflows: string;
  capTransactional: number | null;
  capCampaigns: number | null;
  capWorkflows: number | null;
}

const sum = (category: Category) =>
  `coalesce(sum(count) filter (where source_type = '${sources[category]}'), 0) as ${category}`;

// under a billing limit transactional mail counts when accepted, otherwise when sent.
const read = statement<Row>(
  'billing-consumption',
  `select period.start as period_start,
     coalesce(case when b.period_end > now() then b.period_end end, period.start + interval '1 month') as period_end,
     greatest(used.transactional, case when b.cap_transactional is not null and b.reserved_period = period.start
       then b.reserved else 0 end) as transactional,
     used.campaigns, used.workflows, b.cap_transactional, b.cap_campaigns, b.cap_workflows
   from (select billing_period($1) as start) period
   left join project_billing b on b.project_id = $1
   cross join lateral (
     select ${categories.map(sum).join(', ')} from (
       select source_type, count from billing_hours where project_id = $1 and hour >= date_trunc('hour', period.start, 'UTC')
       union all
       select source_type, count from billing_deltas where project_id = $1 and hour >= date_trunc('hour', period.start, 'UTC')
     ) counted
   ) used`,
);

/** Returns the usage of the current period, from hourly counts and deltas. */
export async function readConsumption(db: Db, projectId: string): Promise<Consumption> {
  const [row] = await read(db, [projectId]);
  if (!row) throw new Error('the consumption returned no row');
  return {
    periodStart: row.periodStart,
    periodEnd: row.periodEnd,
    transactional: { used: Number(row.transactional), limit: row.capTransactional },
    campaigns: { used: Number(row.campaigns), limit: row.capCampaigns },
    workflows: { used: Number(row.workflows), limit: row.capWorkflows },
  };
}
