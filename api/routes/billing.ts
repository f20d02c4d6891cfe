import type Stripe from 'stripe';
import { ApiError, badRequest } from '../../platform/errors.ts';
import { createStripe } from '../../platform/integrations/stripe.ts';
import { listInvoices, openPortal, startCheckout } from '../../services/billing/account.ts';
import { readConsumption } from '../../services/billing/consumption.ts';
import { applyStripeEvent } from '../../services/billing/events.ts';
import { readBillingLimits, setBillingLimits } from '../../services/billing/limits.ts';
import { answer, failure, missing, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { list, namedType, nullable, optional, request, text, uuid, wholeNumber } from '../http/schemas.ts';
import {
  billingLimitsSchema,
  consumptionSchema,
  invoiceSchema,
  presentConsumption,
  presentInvoice,
} from '../presenters/billing.ts';

const params = { id: uuid().description('Project ID.') };
const MAX_LIMIT = 2_000_000_000;
const limit = () => optional(nullable(wholeNumber({ min: 0, max: MAX_LIMIT })));

const off = missing('project');
const page = answer(
  'The URL of the page.',
  namedType('BillingLink', 'A page of the billing provider.', {
    url: text().description('URL to open in a browser.').example('https://billing.stripe.com/p/session/...'),
  }),
);
const providerDown = failure(
  'The billing provider cannot be reached or refused the request.',
  'EXTERNAL_SERVICE_ERROR',
);

const base = '/users/@me/projects/:id';
const shared = { access: 'member', role: 'ADMIN', whileDisabled: true, params } as const;

export function billing({ settings }: AppParts): RouteGroup {
  let client: ReturnType<typeof createStripe> | undefined;
  const on = async (): Promise<{ stripe: Stripe; settings: AppParts['settings'] }> => {
    client ??= createStripe(settings.stripe);
    const stripe = await client;
    if (stripe) return { stripe, settings };
    throw new ApiError(404, 'RESOURCE_NOT_FOUND', 'Billing is turned off on this installation: everything is free.', {
      suggestion: 'The operator can turn it on with STRIPE_SECRET_KEY.',
    });
  };
  return routes('Billing', [
    route({
      ...shared,
      method: 'POST',
      path: `${base}/checkout`,
      summary: 'Start a checkout',
      answers: {
        200: page,
        404: off,
        409: failure('The project already has a subscription.', 'CONFLICT'),
        502: providerDown,
      },
      handle: async ({ db, user, params }) => ok({ url: await startCheckout(db, await on(), params.id, user) }),
    }),
    route({
      ...shared,
      method: 'POST',
      path: `${base}/billing-portal`,
      summary: 'Open the billing portal, to change the subscription or payment method',
      answers: {
        200: page,
        404: off,
        409: failure('The project does not have a billing account yet.', 'CONFLICT'),
        502: providerDown,
      },
      handle: async ({ db, params }) => ok({ url: await openPortal(db, await on(), params.id) }),
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/billing-limits`,
      summary: 'Get the billing limits of a project',
      answers: { 200: answer('The limits.', billingLimitsSchema), 404: off },
      handle: async ({ db, params }) => (await on()) && ok(await readBillingLimits(db, params.id)),
    }),
    route({
      ...shared,
      method: 'PUT',
      path: `${base}/billing-limits`,
      summary: 'Replace the billing limits of a project',
      body: request('SetBillingLimitsRequest', 'The new limits. Categories that are left out become unlimited.', {
        transactional: limit().description('Most transactional emails per period; null for unlimited.').example(10_000),
        campaigns: limit().description('Most campaign emails per period; null for unlimited.').example(50_000),
        workflows: limit().description('Most workflow emails per period; null for unlimited.').example(10_000),
      }),
      answers: { 200: answer('The limits.', billingLimitsSchema), 404: off },
      handle: async ({ db, params, actor, body }) => {
        await on();
        const { transactional = null, campaigns = null, workflows = null } = body;
        return ok(await setBillingLimits(db, params.id, { transactional, campaigns, workflows }, actor));
      },
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/billing-consumption`,
      summary: 'Get the usage of the current billing period',
      answers: { 200: answer('The usage by category.', consumptionSchema), 404: off },
      handle: async ({ db, params }) => (await on()) && ok(presentConsumption(await readConsumption(db, params.id))),
    }),
    route({
      ...shared,
      method: 'GET',
      path: `${base}/billing-invoices`,
      summary: 'List the last 100 invoices, newest first',
      answers: { 200: answer('The invoices.', list(invoiceSchema)), 404: off, 502: providerDown },
      handle: async ({ db, params }) => ok((await listInvoices(db, await on(), params.id)).map(presentInvoice)),
    }),
    route({
      method: 'POST',
      path: '/webhooks/incoming/stripe',
      summary: 'Receive events from Stripe',
      access: 'public',
      bodyKind: 'raw',
      body: text({ min: 0 }).description('Event, as Stripe signed and sent it.'),
      answers: {
        200: answer(
          'The event was received.',
          namedType('StripeReceipt', 'Confirms an event from Stripe.', {
            received: optional(text()).description('Always `yes`.').example('yes'),
          }),
        ),
        400: failure('The signature is invalid.', 'BAD_REQUEST'),
        404: failure('Billing is turned off.', 'RESOURCE_NOT_FOUND'),
      },
      handle: async ({ db, body, request }) => {
        const { stripe } = await on();
        await applyStripeEvent(db, verified(stripe, body, request.headers['stripe-signature']));
        return ok({ received: 'yes' });
      },
    }),
  ]);

  function verified(stripe: Stripe, body: string, signature: string | string[] | undefined): Stripe.Event {
    const secret = settings.stripe?.webhookSecret;
    if (!secret) throw badRequest('The signature cannot be verified: STRIPE_WEBHOOK_SECRET is not set.');
    try {
      return stripe.webhooks.constructEvent(body, signature ?? '', secret);
    } catch {
      throw badRequest('The signature of this request is invalid.');
    }
  }
}
