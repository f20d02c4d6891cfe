import { condition, continueAsNew, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { WebhookEndpointActivities } from '../activities/webhook-endpoints.ts';
import type { EndpointRef } from '../services/webhooks/deliver.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { refresh } from './signals.ts';
import { timings } from './timings.ts';

export type WebhookEndpointInput = EndpointRef;

const { deliverWebhooks } = proxyActivities<WebhookEndpointActivities>({
  // A queue of their own, so that slow endpoints take no slots of WEBHOOK steps.
  taskQueue: 'everpost-webhook-endpoints' satisfies TaskQueues['webhookEndpoints'],
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: timings.timeout,
  summary: 'calls the endpoint for what is due',
  // Retries without limit: only an unavailable database fails here. A failed call is a result.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Clocks differ: by a worker's clock it may be too early still. */
const SHORTEST_REST_MS = 200;

/**
 * Calls one webhook endpoint for as long as it exists. Postgres has the deliveries and their results; this workflow only
 * keeps time. Its history grows with the duration, not with the number of deliveries.
 */
export async function webhookEndpoint(ref: WebhookEndpointInput): Promise<void> {
  let signalled = false;
  setHandler(refresh, () => {
    signalled = true;
  });
  for (;;) {
    signalled = false;
    const next = await deliverWebhooks(ref);
    if (next.kind === 'end') return;
    if (next.kind === 'rest') await condition(() => signalled, Math.max(next.until - Date.now(), SHORTEST_REST_MS));
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookEndpoint>(ref);
  }
}
