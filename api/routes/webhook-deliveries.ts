import { findDelivery, replayDelivery } from '../../services/webhooks/deliveries.ts';
import { accepted, answer, failure, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { uuid } from '../http/schemas.ts';
import { deliveryIdSchema, presentWholeDelivery, wholeDeliverySchema } from '../presenters/webhook.ts';

const params = { id: uuid().description('Delivery ID.') };
const noDelivery = missing('webhook delivery');

export const webhookDeliveries = routes('Webhooks', [
  route({
    method: 'GET',
    scope: 'webhooks:read',
    path: '/webhook-deliveries/:id',
    summary: 'Get a webhook delivery with its payload and attempts',
    access: 'secretKey',
    role: 'ADMIN',
    params,
    answers: { 200: answer('The delivery.', wholeDeliverySchema), 404: noDelivery },
    handle: async ({ db, project, params: { id } }) =>
      ok(presentWholeDelivery(await findDelivery(db, project.projectId, id))),
  }),
  route({
    method: 'POST',
    scope: 'webhooks:write',
    path: '/webhook-deliveries/:id/replay',
    summary: 'Replay a webhook delivery, with the same webhook-id',
    access: 'secretKey',
    role: 'ADMIN',
    params,
    answers: {
      202: answer('The new delivery was queued.', deliveryIdSchema),
      404: noDelivery,
      409: failure('The endpoint of the delivery was deleted.', 'CONFLICT'),
    },
    handle: async ({ db, project, params: { id } }) => accepted({ deliveryId: await replayDelivery(db, project, id) }),
  }),
]);
