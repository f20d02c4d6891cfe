import { type Db, inTransaction } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { ProjectBilling } from '../../db/models/project-billing.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { notifyKeysChanged } from '../access/keys.ts';
import { type Actor, changesOf, recordAudit } from '../audit/record.ts';
import { releaseBlockedMail } from '../blocking/release.ts';
import { type Categories, type Consumption, readConsumption, sources } from './consumption.ts';

export type BillingLimits = Categories<number | null>;

export const limitReached = (category: string, limit: number) =>
  new ApiError(
    402,
    'BILLING_LIMIT_EXCEEDED',
    `The billing limit of ${limit} ${category} emails for this period is reached.`,
    {
      suggestion: 'Raise it with PUT /users/@me/projects/:id/billing-limits, or wait for the next period.',
    },
  );

// Updates one row and reads no mail; a new period starts at zero.
const reserve = statement<{ reserved: number }>(
  'billing-reserve',
  `update project_billing b set reserved = next.count, reserved_period = next.period
   from (
     select period, $2::integer + case when old.reserved_period = period then old.reserved else 0 end as count
     from project_billing old, billing_period($1) as period where old.project_id = $1
   ) next
   where b.project_id = $1 and next.count <= b.cap_transactional
   returning b.reserved`,
);

/**
 * Reserves mails under the limit. Call it in the transaction that accepts them: mail that is not accepted is not counted.
 */
export async function reserveMails(trx: Db, projectId: string, count: number): Promise<void> {
  // Locked first: `reserve` reads what it changes.
  const row = await ProjectBilling.query(trx)
    .findOne({ projectId, inForce: true })
    .forUpdate()
    .select('capTransactional');
  const limit = row?.capTransactional;
  if (limit === undefined || limit === null) return;
  if ((await reserve(trx, [projectId, count])).length === 0) throw limitReached('transactional', limit);
}

/** Rejects a campaign whose whole audience does not fit under the limit. */
export async function requireCampaignBelowLimit(trx: Db, projectId: string, recipients: number): Promise<void> {
  const row = await ProjectBilling.query(trx).findOne({ projectId, inForce: true }).select('capCampaigns');
  const limit = row?.capCampaigns;
  if (limit === undefined || limit === null) return;
  const { used } = (await readConsumption(trx, projectId)).campaigns;
  if (used + Math.max(1, recipients) > limit) throw limitReached('campaign', limit);
}

export async function readBillingLimits(db: Db, projectId: string): Promise<BillingLimits> {
  const row = await ProjectBilling.query(db).findById(projectId);
  return {
    transactional: row?.capTransactional ?? null,
    campaigns: row?.capCampaigns ?? null,
    workflows: row?.capWorkflows ?? null,
  };
}

/** Initializes the reservation when a limit is set. Pending mail counts as accepted under the limit. */
const initializeReserved = statement(
  'billing-initialize-reserved',
  `update project_billing set reserved_period = billing_period(project_id), reserved = (
    select coalesce(sum(count), 0) from (
      select count from billing_hours where project_id = $1 and source_type = 'TRANSACTIONAL'
        and hour >= billing_period($1)
      union all
      select count from billing_deltas where project_id = $1 and source_type = 'TRANSACTIONAL'
        and hour >= billing_period($1)
      union all
      select count(*) from emails where project_id = $1 and source_type = 'TRANSACTIONAL'
        and status = 'PENDING'
    ) used)
  where project_id = $1`,
);

export async function setBillingLimits(
  db: Db,
  projectId: string,
  limits: BillingLimits,
  actor?: Actor,
): Promise<BillingLimits> {
  return inTransaction(db, async (trx) => {
    await Project.query(trx).findById(projectId).forNoKeyUpdate();
    const before = await readBillingLimits(trx, projectId);
    const columns = {
      capTransactional: limits.transactional,
      capCampaigns: limits.campaigns,
      capWorkflows: limits.workflows,
      warned: {},
      inForce: true,
    };
    await ProjectBilling.query(trx)
      .insert({ projectId, ...columns })
      .onConflict('projectId')
      .merge();
    if (before.transactional === null && limits.transactional !== null) await initializeReserved(trx, [projectId]);
    await applyBillingLimits(trx, projectId);
    const changes = changesOf(before, limits);
    if (Object.keys(changes).length > 0)
      await recordAudit(
        trx,
        { projectId, actor },
        { action: 'project.billing_limits_changed', target: { type: 'project', id: projectId }, changes },
      );
    return readBillingLimits(trx, projectId);
  });
}

/** Blocks or releases mail by the current usage. Returns the usage. */
export async function applyBillingLimits(trx: Db, projectId: string): Promise<Consumption> {
  const consumption = await readConsumption(trx, projectId);
  const limited = (['campaigns', 'workflows'] as const)
    .filter((category) => {
      const { used, limit } = consumption[category];
      return limit !== null && used >= limit;
    })
    .map((category) => sources[category]);
  const billingCapped = consumption.transactional.limit !== null;
  const project = await Project.query(trx).findById(projectId).forUpdate();
  if (!project || (project.billingCapped === billingCapped && sameList(project.cappedSources, limited)))
    return consumption;
  await Project.query(trx).findById(projectId).patch({ billingCapped, cappedSources: limited });
  await notifyKeysChanged(trx, projectId);
  await releaseBlockedMail(trx, { projectId });
  return consumption;
}

const sameList = (a: string[], b: string[]) => a.length === b.length && a.every((item) => b.includes(item));
