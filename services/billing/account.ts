import type Stripe from 'stripe';
import { type Db, inTransaction } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { ProjectBilling } from '../../db/models/project-billing.ts';
import type { User } from '../../db/models/user.ts';
import { ApiError } from '../../platform/errors.ts';
import { asking } from '../../platform/integrations/stripe.ts';
import type { Settings } from '../../platform/settings.ts';

export interface Billing {
  stripe: Stripe;
  settings: Pick<Settings, 'stripe' | 'baseUrl'>;
}

const active = ['active', 'trialing', 'past_due'];

const conflict = (message: string, suggestion: string) => new ApiError(409, 'CONFLICT', message, { suggestion });

const account = (db: Db, projectId: string) => ProjectBilling.query(db).findById(projectId).execute();

/** Creates the customer once: the idempotency key ensures it at Stripe, the row here. */
async function customerOf(db: Db, { stripe }: Billing, projectId: string, user: User): Promise<string> {
  const known = (await account(db, projectId))?.customerId;
  if (known) return known;
  const { name } = await Project.query(db).findById(projectId).throwIfNotFound();
  const customer = await asking(() =>
    stripe.customers.create(
      { email: user.email, name, metadata: { projectId } },
      { idempotencyKey: `customer-${projectId}` },
    ),
  );
  await inTransaction(db, async (trx) => {
    await ProjectBilling.query(trx).insert({ projectId }).onConflict('projectId').ignore();
    await ProjectBilling.query(trx).findById(projectId).whereNull('customerId').patch({ customerId: customer.id });
  });
  return (await account(db, projectId))?.customerId ?? customer.id;
}

/** Returns the URL of Stripe's checkout page. */
export async function startCheckout(db: Db, billing: Billing, projectId: string, user: User): Promise<string> {
  const { stripe, settings } = billing;
  const price = settings.stripe?.priceId;
  if (!price) throw new ApiError(404, 'RESOURCE_NOT_FOUND', 'Checkout is unavailable: no price is configured.');
  if (active.includes((await account(db, projectId))?.subscriptionStatus ?? ''))
    throw conflict('The project already has a subscription.', 'Change it in the billing portal.');
  const customer = await customerOf(db, billing, projectId, user);
  const session = await asking(() =>
    stripe.checkout.sessions.create({
      mode: 'subscription',
      customer,
      client_reference_id: projectId,
      line_items: [{ price }],
      subscription_data: { metadata: { projectId } },
      success_url: `${settings.baseUrl}/?checkout=done`,
      cancel_url: `${settings.baseUrl}/?checkout=cancelled`,
    }),
  );
  if (!session.url) throw new ApiError(502, 'EXTERNAL_SERVICE_ERROR', 'The billing provider returned no URL.');
  return session.url;
}

export async function openPortal(db: Db, { stripe, settings }: Billing, projectId: string): Promise<string> {
  const customer = (await account(db, projectId))?.customerId;
  if (!customer) throw conflict('The project has no billing account yet.', 'Start with POST .../checkout.');
  const session = await asking(() =>
    stripe.billingPortal.sessions.create({ customer, return_url: `${settings.baseUrl}/` }),
  );
  return session.url;
}

const MAX_INVOICES = 100;

export async function listInvoices(db: Db, { stripe }: Billing, projectId: string): Promise<Stripe.Invoice[]> {
  const customer = (await account(db, projectId))?.customerId;
  if (!customer) return [];
  const { data } = await asking(() => stripe.invoices.list({ customer, limit: MAX_INVOICES }));
  return data;
}
