import type Stripe from 'stripe';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { ProjectBilling } from '../../db/models/project-billing.ts';
import { applyBillingLimits } from './limits.ts';

const instant = (seconds: number | undefined): Date | null => (seconds === undefined ? null : new Date(seconds * 1000));
const idOf = (thing: string | { id: string } | null | undefined): string | null =>
  typeof thing === 'string' ? thing : (thing?.id ?? null);

/**
 * Applies a Stripe event. Events arrive repeatedly and in any order: each has the whole state, and older ones change
 * nothing.
 */
export async function applyStripeEvent(db: Db, event: Stripe.Event): Promise<void> {
  switch (event.type) {
    case 'checkout.session.completed': {
      const { client_reference_id: projectId, customer, subscription } = event.data.object;
      if (projectId && isId(projectId)) await linkAccount(db, projectId, idOf(customer), idOf(subscription));
      return;
    }
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
      return updateSubscription(db, event.data.object, event.created);
    default:
      return;
  }
}

const isId = (text: string) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text);

/** Links the account to an existing project without another account. */
async function linkAccount(
  db: Db,
  projectId: string,
  customerId: string | null,
  subscriptionId: string | null,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const project = await Project.query(trx).findById(projectId).whereNull('deletedAt').select('id');
    if (!project || !customerId) return;
    await ProjectBilling.query(trx).insert({ projectId, customerId }).onConflict().ignore();
    await ProjectBilling.query(trx).where({ projectId, customerId }).patch({ subscriptionId, updatedAt: new Date() });
  });
}

async function updateSubscription(db: Db, subscription: Stripe.Subscription, created: number): Promise<void> {
  const [item] = subscription.items.data;
  await inTransaction(db, async (trx) => {
    const eventAt = new Date(created * 1000);
    const [row] = await ProjectBilling.query(trx)
      .where({ customerId: idOf(subscription.customer) })
      .where((query) => query.whereNull('eventAt').orWhere('eventAt', '<=', eventAt))
      .patch({
        subscriptionId: subscription.id,
        subscriptionStatus: subscription.status,
        periodStart: instant(item?.current_period_start),
        periodEnd: instant(item?.current_period_end),
        eventAt,
        updatedAt: new Date(),
      })
      .returning('projectId');
    if (row) await applyBillingLimits(trx, row.projectId);
  });
}
