import { findDelivery, replayDelivery } from '../../services/webhooks/deliveries.ts';
import { accepted, answer, failure, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { uuid } from '../http/schemas.ts';
import { deliveryIdSchema, presentWholeDelivery, wholeDeliverySchema } from '../presenters/webhook.ts';

const params = { id: uuid() };
const noDelivery = missing('webhook delivery');

export const webhookDeliveries = routes('Webhooks', [
  route({
    method: 'GET',
    scope: 'webhooks:read',
    path: '/webhook-deliveries/:id',
    summary: 'Get a delivery with its payload and the log of its attempts',
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
    summary: 'Deliver the same event once more, with the same webhook-id',
    access: 'secretKey',
    role: 'ADMIN',
    params,
    answers: {
      202: answer('It will be sent.', deliveryIdSchema),
      404: noDelivery,
      409: failure('The endpoint of the delivery was deleted.', 'CONFLICT'),
    },
    handle: async ({ db, project, params: { id } }) => accepted({ deliveryId: await replayDelivery(db, project, id) }),
  }),
]);
