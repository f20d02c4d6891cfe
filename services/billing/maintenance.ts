import type Stripe from 'stripe';
import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Logger } from '../../platform/logger.ts';
import { nameInMail } from '../../platform/names.ts';
import type { Settings } from '../../platform/settings.ts';
import { notifyKeysChanged } from '../access/keys.ts';
import { releaseBlockedMail } from '../blocking/release.ts';
import { membersToMail } from '../notifications/recipients.ts';
import { sendSystemMail } from '../system/mail.ts';
import { applyCaps } from './caps.ts';
import { type Category, type Consumption, categories } from './consumption.ts';
import { capMailTexts } from './mail-texts.ts';
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

/** Keeps usage, caps and accounts up to date; several workers may run it at once. */
export async function maintainBilling({ db, stripe, settings, log }: BillingDeps): Promise<void> {
  if (!stripe || !settings.stripe) return liftAllCaps(db);
  await db('projectBilling').where({ inForce: false }).update({ inForce: true });
  while ((await aggregateUsage(db)).length > 0);
  await watchCaps(db, settings);
  const { priceId } = settings.stripe;
  if (priceId) while ((await reportUsage(db, stripe, priceId, log)) > 0);
  await closeAccounts(db, stripe, log);
}

/** Releases mail that caps blocked after billing was turned off. */
async function liftAllCaps(db: Db): Promise<void> {
  const rows = await db('projectBilling').where({ inForce: true }).select('projectId');
  for (const { projectId } of rows)
    await inTransaction(db, async (trx) => {
      await trx('projectBilling').where({ projectId }).update({ inForce: false });
      await trx('projects').where({ id: projectId }).update({ billingCapped: false, cappedSources: [] });
      await notifyKeysChanged(trx, projectId);
      await releaseBlockedMail(trx, { projectId });
    });
}

/** Applies the caps of each project: a period may have begun or a cap been reached. */
export async function watchCaps(db: Db, { systemFrom }: Pick<Settings, 'systemFrom'>): Promise<void> {
  const rows = await db('projectBilling')
    .whereRaw('num_nonnulls(cap_transactional, cap_campaigns, cap_workflows) > 0')
    .select<{ projectId: string }[]>('projectId');
  for (const { projectId } of rows) await inTransaction(db, (trx) => watchProject(trx, projectId, systemFrom));
}

async function watchProject(trx: Db, projectId: string, systemFrom: string): Promise<void> {
  const consumption = await applyCaps(trx, projectId);
  const [row] = await trx('projectBilling').where({ projectId }).forUpdate().select('warned');
  const project = await trx('projects').where({ id: projectId }).whereNull('deletedAt').first('name');
  if (!row || !project) return;
  const warned: Record<string, string> = { ...row.warned };
  for (const category of categories) {
    const mark = capMarkOf(consumption, category);
    if (!mark || warned[category] === mark.key) continue;
    warned[category] = mark.key;
    const facts = { project: nameInMail(project.name), category, ...mark };
    for (const member of await membersToMail(trx, projectId, 'project.near_limit', { managersOnly: true }))
      await sendSystemMail(trx, { from: systemFrom, to: member.email, ...capMailTexts[member.language](facts) });
    const { reached, used, limit } = mark;
    await notifyManagers(trx, [projectId, JSON.stringify({ category, reached, used, limit })]);
  }
  await trx('projectBilling')
    .where({ projectId })
    .update({ warned: JSON.stringify(warned) });
}

interface CapMark {
  /** Identifies the warning: one mail per mark and period. */
  key: string;
  reached: boolean;
  used: number;
  limit: number;
}

function capMarkOf(consumption: Consumption, category: Category): CapMark | undefined {
  const { used, limit } = consumption[category];
  if (limit === null || limit === 0 || used < limit * WARN_AT) return undefined;
  const reached = used >= limit;
  return { key: `${consumption.periodStart.toISOString()} ${reached ? 'reached' : 'warned'}`, reached, used, limit };
}

/** Cancels subscriptions of deleted projects, and deletes their rows once all usage is reported. */
async function closeAccounts(db: Db, stripe: Stripe, log: Logger): Promise<void> {
  const rows = await db('projectBilling as b')
    .leftJoin('projects as p', 'p.id', 'b.projectId')
    .where((query) => query.whereNull('p.id').orWhereNotNull('p.deletedAt'))
    .select<{ projectId: string; subscriptionId: string | null }[]>('b.projectId', 'b.subscriptionId');
  for (const { projectId, subscriptionId } of rows) {
    const open = await db('billingReports').where({ projectId, reportedAt: null }).first('id');
    const unreported = await db('billingDeltas').where({ projectId }).first('id');
    if (open || unreported) continue;
    try {
      if (subscriptionId) await stripe.subscriptions.cancel(subscriptionId, { invoice_now: true });
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== 'resource_missing') {
        log.warn({ projectId, err: error }, 'the subscription of a deleted project could not be cancelled');
        continue;
      }
    }
    await db('billingReports').where({ projectId }).del();
    await db('projectBilling').where({ projectId }).del();
  }
}
