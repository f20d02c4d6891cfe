import type Stripe from 'stripe';
import type { Consumption, Use } from '../../services/billing/consumption.ts';
import { dateTime, namedType, nullable, text, wholeNumber } from '../http/schemas.ts';

const limit = () => nullable(wholeNumber({ min: 0 }));
export const billingLimitsSchema = namedType('BillingLimits', 'Most emails per billing period, by category.', {
  transactional: limit().description('Most transactional emails per period; null if unlimited.'),
  campaigns: limit().description('Most campaign emails per period; null if unlimited.'),
  workflows: limit().description('Most workflow emails per period; null if unlimited.'),
});

const useSchema = namedType('CategoryUsage', 'Emails of one category in the current billing period.', {
  used: wholeNumber().description('Number of emails so far.'),
  limit: limit().description('Most emails per period; null if unlimited.'),
  remaining: limit().description('Number of emails left; null if unlimited.'),
});

export const consumptionSchema = namedType('BillingConsumption', 'Usage of the current billing period.', {
  periodStart: dateTime().description('When the period started.'),
  periodEnd: dateTime().description('When the period ends.'),
  transactional: useSchema.description('Transactional emails. With a limit, they count as soon as they are accepted.'),
  campaigns: useSchema.description('Campaign emails.'),
  workflows: useSchema.description('Workflow emails.'),
  total: wholeNumber().description('Number of emails of all categories.'),
});

export const presentConsumption = ({ periodStart, periodEnd, transactional, campaigns, workflows }: Consumption) => ({
  periodStart: periodStart.toISOString(),
  periodEnd: periodEnd.toISOString(),
  transactional: presentUse(transactional),
  campaigns: presentUse(campaigns),
  workflows: presentUse(workflows),
  total: transactional.used + campaigns.used + workflows.used,
});

const presentUse = ({ used, limit }: Use) => ({
  used,
  limit,
  remaining: limit === null ? null : Math.max(0, limit - used),
});

export const invoiceSchema = namedType('Invoice', 'An invoice of the billing provider.', {
  id: text().description('Invoice ID at Stripe.').example('in_...'),
  number: nullable(text()).description('Invoice number; null until the invoice is finalized.').example('ABCD-0001'),
  status: nullable(text())
    .description('Status at Stripe, such as `open` or `paid`; null if there is none.')
    .example('paid'),
  amountDue: wholeNumber().description('Amount due, in the smallest currency unit.').example(1900),
  amountPaid: wholeNumber().description('Amount paid, in the smallest currency unit.').example(1900),
  currency: text().description('ISO 4217 currency code, in lower case.'),
  createdAt: dateTime().description('When the invoice was created.'),
  periodStart: dateTime().description('Start of the invoiced period.'),
  periodEnd: dateTime().description('End of the invoiced period.'),
  hostedUrl: nullable(text())
    .description('URL of the invoice page; null until the invoice is finalized.')
    .example('https://invoice.stripe.com/i/...'),
  pdfUrl: nullable(text())
    .description('URL of the PDF; null until the invoice is finalized.')
    .example('https://pay.stripe.com/invoice/.../pdf'),
});

const instant = (seconds: number) => new Date(seconds * 1000).toISOString();

export const presentInvoice = (invoice: Stripe.Invoice) => ({
  id: invoice.id,
  number: invoice.number ?? null,
  status: invoice.status ?? null,
  amountDue: invoice.amount_due,
  amountPaid: invoice.amount_paid,
  currency: invoice.currency,
  createdAt: instant(invoice.created),
  periodStart: instant(invoice.period_start),
  periodEnd: instant(invoice.period_end),
  hostedUrl: invoice.hosted_invoice_url ?? null,
  pdfUrl: invoice.invoice_pdf ?? null,
});
