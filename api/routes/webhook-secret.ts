import { rotateWebhookSecret, webhookSecret } from '../../services/projects/webhook-secret.ts';
import { answer, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { uuid } from '../http/schemas.ts';
import { webhookSecretSchema } from '../presenters/webhook.ts';

const params = { id: uuid().description('Project ID.') };
const noProject = missing('project');

export const webhookSecrets = routes('Projects', [
  route({
    method: 'GET',
    path: '/projects/:id/webhook-secret',
    summary: 'Get the signing secret of WEBHOOK steps (Standard Webhooks)',
    access: 'memberOrKey',
    scope: 'webhooks:write',
    role: 'ADMIN',
    confirmed: true,
    params,
    answers: { 200: answer('The secret.', webhookSecretSchema), 404: noProject },
    handle: async ({ db, settings, project }) =>
      ok({ secret: await webhookSecret(db, settings.secretKeys, project.projectId) }),
  }),
  route({
    method: 'POST',
    path: '/projects/:id/webhook-secret/rotate',
    summary: 'Rotate the signing secret of WEBHOOK steps',
    access: 'memberOrKey',
    scope: 'webhooks:write',
    role: 'ADMIN',
    confirmed: true,
    params,
    answers: { 200: answer('The new secret, which signs all later requests.', webhookSecretSchema), 404: noProject },
    handle: async ({ db, settings, project }) =>
      ok({ secret: await rotateWebhookSecret(db, settings.secretKeys, project) }),
  }),
]);
