import type { Db } from '../../db/connect.ts';
import type { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { workflowIds } from './ids.ts';
import { writeOutboxMessage } from './write.ts';

type EndpointRun = Pick<WebhookEndpoint, 'id' | 'projectId' | 'generation'>;

const runOf = ({ id, projectId, generation }: EndpointRun) => ({
  workflowId: workflowIds.webhookEndpoint(projectId, id, generation),
  projectId,
});

/** Starts the Temporal workflow that calls the endpoint. The caller has written its row. */
export async function startWebhookEndpointWorkflow(trx: Db, endpoint: EndpointRun): Promise<void> {
  const { id, generation } = endpoint;
  await writeOutboxMessage(trx, {
    queue: 'control',
    action: 'start',
    workflowType: 'webhookEndpoint',
    args: [{ endpointId: id, generation }],
    resourceId: id,
    ...runOf(endpoint),
  });
}

export async function cancelWebhookEndpointWorkflow(trx: Db, endpoint: EndpointRun): Promise<void> {
  await writeOutboxMessage(trx, { queue: 'control', action: 'cancel', ...runOf(endpoint) });
}
