import type Stripe from 'stripe';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { BillingReport, ProjectBilling } from '../../db/models/project-billing.ts';
import { statement } from '../../db/statement.ts';
import type { Logger } from '../../platform/logger.ts';
import { nameInMail } from '../../platform/names.ts';
import type { Settings } from '../../platform/settings.ts';
import { notifyKeysChanged } from '../access/keys.ts';
import { releaseBlockedMail } from '../blocking/release.ts';
import { membersToMail } from '../notifications/recipients.ts';
import { sendSystemMail } from '../system/mail.ts';
import { type Category, type Consumption, categories } from './consumption.ts';
import { applyBillingLimits } from './limits.ts';
import { limitMailTexts } from './mail-texts.ts';
import { reportUsage } from './report.ts';
import { aggregateUsage } from './usage.ts';

const WARN_AT = 0.8;

const notifyManagers = statement(
  'billing-notify',
  "select notify_members($1::uuid, 'project.near_limit', $2::jsonb, 'none', true)",
);

export interface BillingDeps {
  db: Db;
  stripe: Stripe | undefined;
  settings: Pick<Settings, 'stripe' | 'systemFrom'>;
  log: Logger;
}

/** Keeps usage, limits and accounts up to date; several workers may run it at once. */
export async function maintainBilling({ db, stripe, settings, log }: BillingDeps): Promise<void> {
  if (!stripe || !settings.stripe) return liftAllLimits(db);
  await ProjectBilling.query(db).where({ inForce: false }).patch({ inForce: true });
  while ((await aggregateUsage(db)).length > 0);
  await watchBillingLimits(db, settings);
  const { priceId } = settings.stripe;
  if (priceId) while ((await reportUsage(db, stripe, priceId, log)) > 0);
  await closeAccounts(db, stripe, log);
}

/** Releases mail that billing limits blocked after billing was turned off. */
async function liftAllLimits(db: Db): Promise<void> {
  const rows = await ProjectBilling.query(db).where({ inForce: true }).select('projectId');
  for (const { projectId } of rows)
    await inTransaction(db, async (trx) => {
      await ProjectBilling.query(trx).findById(projectId).patch({ inForce: false });
      await Project.query(trx).findById(projectId).patch({ billingCapped: false, cappedSources: [] });
      await notifyKeysChanged(trx, projectId);
      await releaseBlockedMail(trx, { projectId });
    });
}

const findLimited = statement<{ projectId: string }>(
  'billing-limited',
  'select project_id from project_billing where num_nonnulls(cap_transactional, cap_campaigns, cap_workflows) > 0',
);

/** Applies the billing limits of each project: a period may have begun or a limit been reached. */
export async function watchBillingLimits(db: Db, { systemFrom }: Pick<Settings, 'systemFrom'>): Promise<void> {
  const rows = await findLimited(db);
  for (const { projectId } of rows) await inTransaction(db, (trx) => watchProject(trx, projectId, systemFrom));
}

async function watchProject(trx: Db, projectId: string, systemFrom: string): Promise<void> {
  const consumption = await applyBillingLimits(trx, projectId);
  const row = await ProjectBilling.query(trx).findById(projectId).forUpdate().select('warned');
  const project = await Project.query(trx).findById(projectId).whereNull('deletedAt').select('name');
  if (!row || !project) return;
  const warned = { ...row.warned };
  for (const category of categories) {
    const mark = limitMarkOf(consumption, category);
    if (!mark || warned[category] === mark.key) continue;
    warned[category] = mark.key;
    const facts = { project: nameInMail(project.name), category, ...mark };
    for (const member of await membersToMail(trx, projectId, 'project.near_limit', { managersOnly: true }))
      await sendSystemMail(trx, { from: systemFrom, to: member.email, ...limitMailTexts[member.language](facts) });
    const { reached, used, limit } = mark;
    await notifyManagers(trx, [projectId, JSON.stringify({ category, reached, used, limit })]);
  }
  await ProjectBilling.query(trx).findById(projectId).patch({ warned });
}

interface LimitMark {
  /** Identifies the warning: one mail per mark and period. */
  key: string;
  reached: boolean;
  used: number;
  limit: number;
}

function limitMarkOf(consumption: Consumption, category: Category): LimitMark | undefined {
  const { used, limit } = consumption[category];
  if (limit === null || limit === 0 || used < limit * WARN_AT) return undefined;
  const reached = used >= limit;
  return { key: `${consumption.periodStart.toISOString()} ${reached ? 'reached' : 'warned'}`, reached, used, limit };
}

// Of deleted projects, without usage that is not reported yet.
const findClosed = statement<{ projectId: string; subscriptionId: string | null }>(
  'billing-closed',
  `select b.project_id, b.subscription_id from project_billing b left join projects p on p.id = b.project_id
   where (p.id is null or p.deleted_at is not null)
     and not exists (select from billing_reports r where r.project_id = b.project_id and r.reported_at is null)
     and not exists (select from billing_deltas d where d.project_id = b.project_id)`,
);

/** Cancels subscriptions of deleted projects, and deletes their rows once all usage is reported. */
async function closeAccounts(db: Db, stripe: Stripe, log: Logger): Promise<void> {
  for (const { projectId, subscriptionId } of await findClosed(db)) {
    try {
      if (subscriptionId) await stripe.subscriptions.cancel(subscriptionId, { invoice_now: true });
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== 'resource_missing') {
        log.warn({ projectId, err: error }, 'the subscription of a deleted project could not be cancelled');
        continue;
      }
    }
    await BillingReport.query(db).where({ projectId }).delete();
    await ProjectBilling.query(db).deleteById(projectId);
  }
}
