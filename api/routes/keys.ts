import joi from 'joi';
import { createScopedKey, listScopedKeys, parseNetwork, revokeScopedKey } from '../../services/access/scoped-keys.ts';
import { grantedScopes } from '../../services/access/scopes.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { moment } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import { line, list, nullable, oneOf, optional, request, uuid } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented, refuse } from '../http/violations.ts';
import { presentScopedKey, scopedKeySchema } from '../presenters/scoped-key.ts';

const params = { id: uuid().description('Project ID.') };
const MAX_ALLOWED_IPS = 100;

const network = (): Typed<string> =>
  documented(
    joi
      .string()
      .max(50)
      .custom((value: string, helpers) => {
        try {
          parseNetwork(value);
          return value;
        } catch {
          return refuse(helpers, 'invalid_string', 'must be an IP address, or a network such as 192.0.2.0/24');
        }
      })
      .required(),
    { pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$' },
  ).example('192.0.2.0/24');

const futureMoment = (): Typed<string> =>
  (moment() as joi.StringSchema)
    .custom((value: string, helpers) =>
      new Date(value) > new Date() ? value : refuse(helpers, 'too_small', 'must be in the future'),
    )
    .example('2099-01-31');

export const keys = routes('Keys', [
  route({
    method: 'GET',
    path: '/projects/:id/keys',
    summary: 'List the scoped keys of a project, except revoked ones',
    access: 'member',
    role: 'ADMIN',
    params,
    answers: { 200: answer('The keys.', list(scopedKeySchema)), 404: missing('project') },
    handle: async ({ db, project }) => ok((await listScopedKeys(db, project.projectId)).map(presentScopedKey)),
  }),
  route({
    method: 'POST',
    path: '/projects/:id/keys',
    summary: 'Create a scoped key',
    access: 'member',
    role: 'ADMIN',
    confirmed: ({ scopes }) => scopes.includes('all'),
    params,
    body: request('CreateScopedKeyRequest', 'The key to create.', {
      name: line({ max: 255 }).description('Key name.').example('Web shop'),
      scopes: list(oneOf(...grantedScopes), { min: 1, max: grantedScopes.length }).description(
        'Scopes to grant. `write` includes `read`; `all` grants everything that the secret key may do.',
      ),
      expiresAt: optional(nullable(futureMoment())).description(
        'When the key expires, in the future. If null or left out, it does not.',
      ),
      allowedIps: optional(nullable(list(network(), { max: MAX_ALLOWED_IPS }))).description(
        `IP addresses and networks that may use the key, at most ${MAX_ALLOWED_IPS}. If empty, null or left out, all may.`,
      ),
    }),
    answers: {
      201: answer('The new key. `key` cannot be retrieved again.', scopedKeySchema),
      404: missing('project'),
      409: failure('The project has the maximum number of scoped keys.', 'CONFLICT'),
    },
    handle: async ({ db, settings, project, actor, body: { name, scopes, expiresAt, allowedIps } }) => {
      const given = { name, scopes, expiresAt: expiresAt ? new Date(expiresAt) : null, allowedIps: allowedIps ?? [] };
      const { scopedKeys: max } = settings.limits;
      return created(presentScopedKey(await createScopedKey(db, { ...project, actor }, given, max)));
    },
  }),
  route({
    method: 'DELETE',
    path: '/projects/:id/keys/:keyId',
    summary: 'Revoke a scoped key',
    access: 'member',
    role: 'ADMIN',
    whileDisabled: true,
    params: { ...params, keyId: uuid().description('Key ID.') },
    answers: { 204: answer('Revoked. The key no longer works.'), 404: missing('key') },
    handle: async ({ db, project, params }) => {
      await revokeScopedKey(db, project, params.keyId);
      return noContent();
    },
  }),
]);
