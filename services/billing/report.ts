import type Stripe from 'stripe';
import type { Db } from '../../db/connect.ts';
import { BillingReport } from '../../db/models/project-billing.ts';
import { statement } from '../../db/statement.ts';
import { isRepeated } from '../../platform/integrations/stripe.ts';
import type { Logger } from '../../platform/logger.ts';
import { processTimings } from '../../platform/timings.ts';

export interface UsageReport {
  id: string;
  customerId: string;
  count: string;
  at: Date;
}

const BATCH = 50;

const claim = statement<UsageReport>(
  'billing-claim',
  `update billing_reports set claimed_until = now() + make_interval(secs => $2)
   where id in (
     select id from billing_reports where reported_at is null and claimed_until <= now()
     order by claimed_until limit $1 for update skip locked)
   returning id, customer_id, count, at`,
);

const eventNames = new WeakMap<Stripe, Map<string, string>>();

/** Returns the event name of the meter of the price. */
async function eventName(stripe: Stripe, priceId: string): Promise<string> {
  const known = eventNames.get(stripe) ?? new Map<string, string>();
  eventNames.set(stripe, known);
  const name = known.get(priceId);
  if (name) return name;
  const { recurring } = await stripe.prices.retrieve(priceId);
  if (!recurring?.meter) throw new Error(`the price ${priceId} is not counted by a meter`);
  const meter = await stripe.billing.meters.retrieve(recurring.meter);
  known.set(priceId, meter.event_name);
  return meter.event_name;
}

/**
 * Reports usage to Stripe. A report that may have succeeded is repeated under the same identifier, which Stripe counts
 * once. Returns how many were reported.
 */
export async function reportUsage(db: Db, stripe: Stripe, priceId: string, log: Logger): Promise<number> {
  const reports = await claim(db, [BATCH, processTimings.billing.claim / 1_000]);
  if (reports.length === 0) return 0;
  let reported = 0;
  for (const report of reports) {
    try {
      await sendReport(stripe, await eventName(stripe, priceId), report);
      await BillingReport.query(db).findById(report.id).patch({ reportedAt: new Date(), lastError: null });
      reported++;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.warn({ reportId: report.id, error: message }, 'usage could not be reported to Stripe; retrying later');
      await BillingReport.query(db)
        .findById(report.id)
        .patch({ lastError: message.slice(0, 500) });
    }
  }
  return reported;
}

async function sendReport(
  stripe: Stripe,
  name: string,
  { id, customerId: customer, count, at }: UsageReport,
): Promise<void> {
  try {
    await stripe.billing.meterEvents.create({
      event_name: name,
      identifier: id,
      timestamp: Math.floor(at.getTime() / 1000),
      payload: { stripe_customer_id: customer, value: count },
    });
  } catch (error) {
    if (!(await isRepeated(error))) throw error;
  }
}
