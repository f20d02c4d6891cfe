import { Context } from '@temporalio/activity';
import { CallShares } from '../platform/call-shares.ts';
import { processTimings } from '../platform/timings.ts';
import { type DeliverDeps, deliverSlice, type EndpointRef, type NextDelivery } from '../services/webhooks/deliver.ts';
import { withHeartbeats } from './heartbeats.ts';

export interface EndpointActivityDeps extends DeliverDeps {
  /** Aborted when the process shuts down: finish the calls that have begun. */
  stopping: AbortSignal;
}

export const webhookEndpointActivities = ({ stopping, ...deps }: EndpointActivityDeps) => {
  const shares = new CallShares();
  return {
    async deliverWebhooks(ref: EndpointRef): Promise<NextDelivery> {
      const { cancellationSignal: signal } = Context.current();
      const { webhooks } = deps.timings ?? processTimings;
      const startedAt = performance.now();
      const isOver = () => performance.now() - startedAt > webhooks.slice || stopping.aborted || signal.aborted;
      return withHeartbeats(() => deliverSlice(deps, ref, { isOver, signal, shares }), deps.timings);
    },
  };
};

export type WebhookEndpointActivities = ReturnType<typeof webhookEndpointActivities>;
