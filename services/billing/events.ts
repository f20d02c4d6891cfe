import type Stripe from 'stripe';
import { type Db, inTransaction } from '../../db/connect.ts';
import { applyCaps } from './caps.ts';

const instant = (seconds: number | undefined): Date | null => (seconds === undefined ? null : new Date(seconds * 1000));
const idOf = (thing: string | { id: string } | null | undefined): string | null =>
  typeof thing === 'string' ? thing : (thing?.id ?? null);

/**
 * Takes over what Stripe says of a subscription. Its events come more than once and in any order: each is a whole state,
 * and one that is older than what we have changes nothing.
 */
export async function takeStripeEvent(db: Db, event: Stripe.Event): Promise<void> {
  switch (event.type) {
    case 'checkout.session.completed': {
      const { client_reference_id: projectId, customer, subscription } = event.data.object;
      if (projectId && isId(projectId)) await bind(db, projectId, idOf(customer), idOf(subscription));
      return;
    }
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
      return follow(db, event.data.object, event.created);
    default:
      return;
  }
}

const isId = (text: string) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text);

/** Only to a project that is there, and that has no other account. */
async function bind(
  db: Db,
  projectId: string,
  customerId: string | null,
  subscriptionId: string | null,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const project = await trx('projects').where({ id: projectId }).whereNull('deletedAt').first('id');
    if (!project || !customerId) return;
    await trx('projectBilling').insert({ projectId, customerId }).onConflict().ignore();
    await trx('projectBilling').where({ projectId, customerId }).update({ subscriptionId, updatedAt: trx.fn.now() });
  });
}

async function follow(db: Db, subscription: Stripe.Subscription, created: number): Promise<void> {
  const [item] = subscription.items.data;
  await inTransaction(db, async (trx) => {
    const [row] = await trx('projectBilling')
      .where({ customerId: idOf(subscription.customer) })
      .where((query) => query.whereNull('eventAt').orWhere('eventAt', '<=', instant(created)))
      .update({
        subscriptionId: subscription.id,
        subscriptionStatus: subscription.status,
        periodStart: instant(item?.current_period_start),
        periodEnd: instant(item?.current_period_end),
        eventAt: instant(created),
        updatedAt: trx.fn.now(),
      })
      .returning<{ projectId: string }[]>('projectId');
    if (row) await applyCaps(trx, row.projectId);
  });
}
