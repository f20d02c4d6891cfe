import type Stripe from 'stripe';
import type { Consumption, Use } from '../../services/billing/consumption.ts';
import { dateTime, nullable, object, text, wholeNumber } from '../http/schemas.ts';

const cap = () => nullable(wholeNumber({ min: 0 }));
export const capsSchema = object({ transactional: cap(), campaigns: cap(), workflows: cap() });

const use = () => object({ used: wholeNumber(), limit: cap(), remaining: cap() });
export const consumptionSchema = object({
  periodStart: dateTime(),
  periodEnd: dateTime(),
  transactional: use(),
  campaigns: use(),
  workflows: use(),
  total: wholeNumber(),
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

export const invoiceSchema = object({
  id: text(),
  number: nullable(text()),
  status: nullable(text()),
  amountDue: wholeNumber(),
  amountPaid: wholeNumber(),
  currency: text(),
  createdAt: dateTime(),
  periodStart: dateTime(),
  periodEnd: dateTime(),
  hostedUrl: nullable(text()),
  pdfUrl: nullable(text()),
});

const instant = (seconds: number) => new Date(seconds * 1000).toISOString();

/** Amounts are in the smallest unit of the currency. */
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
