import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import type joi from 'joi';
import { openApiOf } from '../../api/http/openapi.ts';
import { webhookData } from '../../api/http/openapi-webhooks.ts';
import { declaredRoutes } from '../../api/routes/index.ts';
import { compiledProgram } from '../../dev/program.ts';
import { root } from '../../dev/root.ts';
import { execute } from '../../dev/run.ts';
import { pathsInFull } from '../../platform/openapi-references.ts';
import { webhookTypes } from '../../services/webhooks/types.ts';
import { describeApi } from '../support/api.ts';
import { withoutSettings } from '../support/processes.ts';
import { erasedPayload } from '../support/rows/webhooks.ts';

describeApi('GET /openapi.json', (api) => {
  // biome-ignore lint/suspicious/noExplicitAny: the validator checks the shape of the document
  let document: any;

  // biome-ignore lint/suspicious/noExplicitAny: as above, with types in place of their references
  let paths: any;

  before(async () => {
    document = (await api.get('/openapi.json')).body;
    paths = pathsInFull(document);
  });

  it('is a valid OpenAPI 3.1 document', async () => {
    expect(document.openapi).to.match(/^3\.1\./);
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors, JSON.stringify(errors)).to.equal(undefined);
    expect(valid).to.equal(true);
  });

  it('describes every type of webhook with a schema and an example', () => {
    expect(Object.keys(document.webhooks)).to.have.members(webhookTypes.map(({ type }) => type));
    for (const { type } of webhookTypes) {
      const { schema, example } = document.webhooks[type].post.requestBody.content['application/json'];
      expect(schema.properties.data.$ref, type).to.match(/^#\/components\/schemas\/\w+WebhookData$/);
      expect(example.data, type).to.be.an('object');
      const described = webhookData[type]?.schema;
      // Examples may leave fields out, but have no wrong ones.
      const { error } = (described as joi.ObjectSchema)
        .prefs({ presence: 'optional', noDefaults: true })
        .validate(example.data, { abortEarly: false });
      const wrong = error?.details.filter(({ type: rule }) => rule !== 'any.required').map(({ message }) => message);
      expect(wrong ?? [], type).to.deep.equal([]);
    }
  });

  it('describes payloads that were erased with their contact', async () => {
    const project = await api.project();
    const about = Object.entries(webhookData).filter(([, { example }]) => 'contactId' in example || 'email' in example);
    expect(about).to.have.length.greaterThan(15);
    for (const [type, { example }] of about) {
      const erased = await erasedPayload(api.db, project.id, type, example);
      expect(erased, type).to.not.have.any.keys('email', 'data', 'context');
      const { $ref } = document.webhooks[type].post.requestBody.content['application/json'].schema.properties.data;
      const { required = [] } = document.components.schemas[$ref.split('/').at(-1)];
      expect(erased, type).to.include.keys(...required);
    }
  });

  it('lists exactly the registered routes', () => {
    const listed = Object.entries<object>(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const registered = declaredRoutes().flatMap(({ routes }) =>
      routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
    );
    expect(listed).to.have.members(registered).and.include('POST /v1/track').and.include('GET /users/@me');
  });

  it('declares the authentication of each route', () => {
    expect(document.paths['/v1/track'].post.security).to.deep.equal([{ publicKey: [] }]);
    expect(document.paths['/v1/send'].post.security).to.deep.equal([{ secretKey: [] }]);
    expect(document.paths['/users/@me'].get.security).to.deep.equal([{ session: [] }]);
    expect(document.paths['/health'].get.security).to.deep.equal([]);
    expect(document.components.securitySchemes).to.have.all.keys('publicKey', 'secretKey', 'session', 'project');
  });

  it('describes the body of /v1/track by its schema', () => {
    expect(document.paths['/v1/track'].post.requestBody.content['application/json'].schema).to.deep.equal({
      $ref: '#/components/schemas/TrackRequest',
    });
    const schema = document.components.schemas.TrackRequest;
    expect(schema.required).to.have.members(['email', 'event']);
    expect(schema.properties.email).to.deep.include({ type: 'string', format: 'email' });
    expect(schema.properties.event).to.deep.include({ type: 'string', maxLength: 255 });
    expect(schema.properties.subscribed).to.deep.include({ type: 'boolean' });
    expect(schema).not.to.have.property('additionalProperties');
  });

  it('describes the allowed headers of a mail', () => {
    const { headers } = document.components.schemas.SendRequest.properties;
    expect(headers.properties).to.deep.equal({});
    expect(headers.patternProperties['^']).to.deep.include({ type: 'string', maxLength: 998 });
  });

  it('declares Idempotency-Key on the routes that accept it', () => {
    const taking = Object.entries<Record<string, { parameters: { name: string }[] }>>(paths).flatMap(
      ([path, operations]) =>
        Object.entries(operations)
          .filter(([, { parameters }]) => parameters.some(({ name }) => name === 'Idempotency-Key'))
          .map(([method]) => `${method} ${path}`),
    );
    expect(taking).to.have.members(['post /v1/send', 'post /v1/track', 'post /events/track']);
  });

  it('documents the answers to a session without a project or membership', () => {
    expect(document.paths['/events/names'].get.responses).to.include.all.keys('400', '401', '403');
  });

  it('describes the alternatives of /v1/send with anyOf', () => {
    const { to, from } = paths['/v1/send'].post.requestBody.content['application/json'].schema.properties;
    const types = ({ anyOf }: { anyOf: { type: string }[] }) => anyOf.map(({ type }) => type);
    expect(types(to)).to.deep.equal(['string', 'array', 'object']);
    expect(to.anyOf[1]).to.include({ minItems: 1, maxItems: 1000 });
    expect(types(to.anyOf[1].items)).to.deep.equal(['string', 'object']);
    expect(types(from)).to.deep.equal(['string', 'object']);
  });

  it('describes answers with shape, rate limit and errors', () => {
    const { responses } = document.paths['/v1/track'].post;
    expect(responses).to.include.all.keys('200', '400', '401', '403', '413', '415', '422', '429', '500');
    expect(responses[200].headers).to.include.all.keys('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset');
    expect(paths['/v1/track'].post.responses[429].headers).to.include.all.keys('Retry-After', 'RateLimit-Reset');
    expect(responses[422]).to.deep.equal({ $ref: '#/components/responses/Invalid' });
    const { Invalid } = document.components.responses;
    expect(Invalid.content['application/json'].schema.$ref).to.equal('#/components/schemas/Error');
    const { data } = paths['/v1/track'].post.responses[200].content['application/json'].schema.properties;
    expect(data.required).to.have.members(['contact', 'event', 'timestamp']);
  });

  it('declares both forms of the 400 of POST /contacts and POST /segments', () => {
    for (const path of ['/contacts', '/segments']) {
      const { schema } = document.paths[path].post.responses[400].content['application/json'];
      expect(schema.anyOf.map(({ $ref }: { $ref: string }) => $ref.split('/').at(-1))).to.deep.equal([
        'PlainError',
        'Error',
      ]);
    }
  });

  it('gives each operation a unique id', () => {
    const ids = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(/^[a-z][A-Za-z0-9]+$/);
  });
});

describe('the OpenAPI document of the build', () => {
  it('is in the compiled program, as its routes declare it', async () => {
    const written = readFileSync(join(await compiledProgram(), 'openapi.json'), 'utf8');
    expect(JSON.parse(written)).to.deep.equal(JSON.parse(JSON.stringify(openApiOf(declaredRoutes()))));
  });

  it('is needed by the API, which otherwise names the command that builds it and exits', async () => {
    const env = { ...withoutSettings(process.env), DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    // The source has no document beside it.
    const started = execute(process.execPath, ['--import', 'tsx', 'api/server.ts'], { cwd: root, env });
    const { code, stdout } = await started.then(
      () => expect.fail('The API has started.'),
      (error: { code: number; stdout: string }) => error,
    );
    expect(code).to.equal(1);
    expect(stdout).to.contain('openapi.json cannot be read: run \\"npm run build\\"');
  });
});
