import type {
  CreateWebhookEndpointRequest,
  QueuedDelivery,
  RotateEndpointSecretRequest,
  UpdateWebhookEndpointRequest,
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from '../api-types.ts';
import { items } from '../pages.ts';
import type { RawClient } from '../raw-client.ts';
import type { CallOptions, QueryOf } from '../types.ts';
import { verifyWebhook } from '../webhooks.ts';

/** Endpoints that receive webhooks, and their deliveries. */
export const webhooks = (client: RawClient) => ({
  /** Verifies the signature of a received webhook and returns its event. Needs no key. */
  verify: verifyWebhook,

  /** Creates an endpoint. The answer has its signing secret. */
  create: (endpoint: CreateWebhookEndpointRequest, options?: CallOptions): Promise<WebhookEndpointWithSecret> =>
    client.post('/webhook-endpoints', { ...options, body: endpoint }),

  list: (options?: CallOptions): Promise<WebhookEndpoint[]> => client.get('/webhook-endpoints', options),

  get: (id: string, options?: CallOptions): Promise<WebhookEndpoint> =>
    client.get('/webhook-endpoints/{id}', { ...options, path: { id } }),

  update: (id: string, changes: UpdateWebhookEndpointRequest, options?: CallOptions): Promise<WebhookEndpoint> =>
    client.patch('/webhook-endpoints/{id}', { ...options, path: { id }, body: changes }),

  delete: (id: string, options?: CallOptions): Promise<undefined> =>
    client.delete('/webhook-endpoints/{id}', { ...options, path: { id } }),

  rotateSecret: (
    id: string,
    rotation: RotateEndpointSecretRequest = {},
    options?: CallOptions,
  ): Promise<WebhookEndpointWithSecret> =>
    client.post('/webhook-endpoints/{id}/rotate-secret', { ...options, path: { id }, body: rotation }),

  /** Sends a test webhook to an endpoint. */
  test: (id: string, options?: CallOptions): Promise<QueuedDelivery> =>
    client.post('/webhook-endpoints/{id}/test', { ...options, path: { id } }),

  deliveries: (
    id: string,
    query?: QueryOf<'/webhook-endpoints/{id}/deliveries'>,
    options?: CallOptions,
  ): AsyncGenerator<WebhookDelivery, void> =>
    items(client, '/webhook-endpoints/{id}/deliveries', { ...options, path: { id }, query }),

  /** Returns a delivery with its payload and attempts. */
  delivery: (id: string, options?: CallOptions): Promise<WebhookDeliveryDetails> =>
    client.get('/webhook-deliveries/{id}', { ...options, path: { id } }),

  /** Delivers a webhook again. */
  replay: (deliveryId: string, options?: CallOptions): Promise<QueuedDelivery> =>
    client.post('/webhook-deliveries/{id}/replay', { ...options, path: { id: deliveryId } }),
});
