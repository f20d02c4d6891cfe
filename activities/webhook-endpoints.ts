import { Context } from '@temporalio/activity';
import { type DeliverDeps, deliverSlice, type EndpointRef, type NextDelivery } from '../services/webhooks/deliver.ts';

export interface EndpointActivityDeps extends DeliverDeps {
  /** Aborted when the process shuts down: finish the calls that have begun. */
  stopping: AbortSignal;
}

const SLICE_MS = 25_000;
const HEARTBEAT_MS = 2_000;

export const webhookEndpointActivities = ({ stopping, ...deps }: EndpointActivityDeps) => ({
  async deliverWebhooks(ref: EndpointRef): Promise<NextDelivery> {
    const { cancellationSignal, heartbeat } = Context.current();
    const startedAt = performance.now();
    const isOver = () => performance.now() - startedAt > SLICE_MS || stopping.aborted || cancellationSignal.aborted;
    const heartbeats = setInterval(heartbeat, HEARTBEAT_MS);
    try {
      return await deliverSlice(deps, ref, { isOver, signal: cancellationSignal });
    } finally {
      clearInterval(heartbeats);
    }
  },
});

export type WebhookEndpointActivities = ReturnType<typeof webhookEndpointActivities>;
