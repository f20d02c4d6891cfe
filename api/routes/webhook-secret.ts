import joi from 'joi';
import { rotateWebhookSecret, webhookSecret } from '../../services/projects/webhook-secret.ts';
import { answer, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { object, uuid } from '../http/schemas.ts';

const secretSchema = object({
  secret: joi
    .string()
    .pattern(/^whsec_/)
    .required(),
});
const params = { id: uuid() };
const noProject = missing('project');

export const webhookSecrets = routes('Projects', [
  route({
    method: 'GET',
    path: '/projects/:id/webhook-secret',
    summary: 'Get the secret that signs calls of WEBHOOK steps (Standard Webhooks)',
    access: 'memberOrKey',
    scope: 'webhooks:write',
    role: 'ADMIN',
    confirmed: true,
    params,
    answers: { 200: answer('The secret.', secretSchema), 404: noProject },
    handle: async ({ db, settings, project }) =>
      ok({ secret: await webhookSecret(db, settings.secretKeys, project.projectId) }),
  }),
  route({
    method: 'POST',
    path: '/projects/:id/webhook-secret/rotate',
    summary: 'Replace the webhook secret; later calls are signed with the new one',
    access: 'memberOrKey',
    scope: 'webhooks:write',
    role: 'ADMIN',
    confirmed: true,
    params,
    answers: { 200: answer('The new secret.', secretSchema), 404: noProject },
    handle: async ({ db, settings, project }) =>
      ok({ secret: await rotateWebhookSecret(db, settings.secretKeys, project) }),
  }),
]);
