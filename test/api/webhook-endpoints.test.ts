import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { newId } from '../../platform/ids.ts';
import { readSettings } from '../../platform/settings.ts';
import { endSessions } from '../../services/sessions/sessions.ts';
import { openEndpointHeaders } from '../../services/webhooks/sealed-secrets.ts';
import { sealUrlCredentials } from '../../services/webhooks/url-credentials.ts';
import { person } from '../support/accounts.ts';
import { type ApiAnswer, type ApiProject, client, startTestApi, type TestApi } from '../support/api.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { outboxMessages } from '../support/rows/outbox.ts';
import { countRows } from '../support/rows/tables.ts';
import {
  moveWebhooksBack,
  openListeners,
  queuedWebhookRows,
  setEndpoints,
  storedDeliveries,
  storedEndpoints,
  storedWebhookEvents,
} from '../support/rows/webhooks.ts';
import { eventually } from '../support/waiting.ts';
import { driveWebhooks, relayWebhooks } from '../support/webhooks.ts';

const URL = 'https://hooks.example/path';
const { secretKeys } = readSettings({});

describe('webhook endpoints', () => {
  let api: TestApi;
  let project: ApiProject;
  let receiver: HttpReceiver;

  before(async () => {
    receiver = await startHttpReceiver();
    api = await startTestApi({ env: { WEBHOOK_ALLOWED_HOSTS: receiver.host } });
  });
  beforeEach(async () => {
    project = await api.project();
  });
  after(async () => {
    await api?.stop();
    await receiver?.stop();
  });

  type Json = Record<string, unknown>;
  const bodyOf = ({ body }: ApiAnswer) => body as Json;
  const create = async (more: object = {}) =>
    bodyOf(await project.server.post('/webhook-endpoints', { url: URL, types: ['*'], ...more }));
  const scoped = async (scope: string) => {
    const made = await project.owner.post(`/projects/${project.id}/keys`, { name: scope, scopes: [scope] });
    return client(api.url, { authorization: `Bearer ${bodyOf(made).key}` });
  };

  describe('credentials in a URL', () => {
    const WITH = 'https://ann:s%20cret@hooks.example/path';

    it('are refused with 422', async () => {
      const { id } = await create();
      for (const url of [WITH, 'https://token@hooks.example/', 'https://:secret@hooks.example/'])
        for (const answer of [
          await project.server.post('/webhook-endpoints', { url, types: ['*'] }),
          await project.server.patch(`/webhook-endpoints/${id}`, { url }),
        ])
          expect(answer, url).to.have.validationError('url', 'custom');
      expect(await project.server.patch(`/webhook-endpoints/${id}`, { url: `${URL}/@me?a=b@c` })).to.have.status(200);
    });

    it('that were stored before are masked, and sealed as the header that they cause', async () => {
      const { id } = await create({ headers: { 'X-Token': 'abc' } });
      await setEndpoints(api.db, { id }, { url: WITH });
      const shown = async () => (await project.server.get(`/webhook-endpoints/${id}`)).body;
      expect((await shown()).url).to.equal('https://•••@hooks.example/path');
      await sealUrlCredentials(api.db, secretKeys);
      expect(await shown()).to.deep.include({ url: URL, headers: { 'X-Token': '•••', Authorization: '•••' } });
      const [row] = await storedEndpoints(api.db, { id });
      expect(openEndpointHeaders(secretKeys, id as string, row.sealedHeaders)).to.deep.equal({
        'X-Token': 'abc',
        Authorization: `Basic ${Buffer.from('ann:s cret').toString('base64')}`,
      });
    });
  });

  describe('POST /webhook-endpoints', () => {
    it('creates an endpoint and shows its secret once', async () => {
      const answer = await project.server.post('/webhook-endpoints', {
        url: URL,
        types: ['email.*', 'event.bought', 'email.*'],
        description: 'CRM',
        headers: { 'X-Token': 'abc' },
        ratePerSecond: 5,
      });
      expect(answer.status).to.equal(201);
      const { id, secret, ...rest } = bodyOf(answer);
      expect(secret).to.match(/^whsec_/);
      expect(rest).to.deep.include({
        projectId: project.id,
        url: URL,
        description: 'CRM',
        types: ['email.*', 'event.bought'],
        headers: { 'X-Token': '•••' },
        ratePerSecond: 5,
        enabled: true,
        disabledReason: null,
        failingSince: null,
      });
      const shown = bodyOf(await project.server.get(`/webhook-endpoints/${id}`));
      expect(shown).to.deep.equal({ id, ...rest });
      expect((await project.server.get('/webhook-endpoints')).body).to.deep.equal([shown]);
      expect((await project.server.get(`/webhook-endpoints/${id}/secret`)).body).to.deep.equal({ secret });
    });

    it('stores secret and headers sealed', async () => {
      await create({ headers: { 'X-Token': 'very-private' } });
      const rows = await storedEndpoints(api.db, { projectId: project.id });
      expect(JSON.stringify(rows)).to.not.match(/whsec_|very-private/);
    });

    it('starts one Temporal workflow for the endpoint', async () => {
      const { id } = await create();
      const messages = await outboxMessages(api.db, { projectId: project.id });
      expect(messages.map(({ workflowId }) => workflowId)).to.deep.equal([`webhookEndpoint/${project.id}/${id}/1`]);
    });

    it('rejects a private address and another scheme with 400', async () => {
      for (const url of [
        'http://127.0.0.1/',
        'http://10.0.0.1:8080/x',
        'http://[::1]/',
        'http://169.254.169.254/latest',
        'http://2130706433/',
        'ftp://hooks.example/',
        'javascript:alert(1)',
        'hooks.example',
        'http://',
      ]) {
        const answer = await project.server.post('/webhook-endpoints', { url, types: ['*'] });
        expect(answer.status, url).to.equal(400);
        expect(bodyOf(answer).error, url).to.include({ code: 'BAD_REQUEST' });
      }
      expect((await project.server.get('/webhook-endpoints')).body).to.deep.equal([]);
    });

    it('rejects unknown types, no types, 51 types and bad headers with 422 and names the field', async () => {
      const bad: [object, RegExp][] = [
        [{ types: ['email.nothing'] }, /^types/],
        [{ types: ['segment.entry'] }, /^types/],
        [{ types: ['nothing.*'] }, /^types/],
        [{ types: ['event.'] }, /^types/],
        [{ types: [] }, /^types/],
        [{ types: Array.from({ length: 51 }, (_, n) => `event.e${n}`) }, /^types/],
        [{ types: 'email.sent' }, /^types/],
        [{ headers: { 'not a name': 'x' } }, /^headers/],
        [{ headers: { 'X-A': 'two\r\nlines' } }, /^headers/],
        [{ headers: { 'Webhook-Id': 'mine' } }, /^headers/],
        [{ headers: { Host: 'other' } }, /^headers/],
        [{ ratePerSecond: 0 }, /^ratePerSecond/],
        [{ ratePerSecond: 1001 }, /^ratePerSecond/],
        [{ description: 'x'.repeat(501) }, /^description/],
        [{ url: 5 }, /^url/],
      ];
      for (const [more, field] of bad) {
        const answer = await project.server.post('/webhook-endpoints', { url: URL, types: ['*'], ...more });
        expect(answer.status, JSON.stringify(more)).to.equal(422);
        const [violation] = (bodyOf(answer).error as { errors: { field: string }[] }).errors;
        expect(violation?.field).to.match(field);
      }
    });

    it('accepts every listed type, prefixes, and names of tracked events', async () => {
      const { types } = bodyOf(await project.server.get('/webhook-endpoints/types')) as { types: { type: string }[] };
      const names = types.map(({ type }) =>
        type.replace('<slug>', 'vips').replace('<key>', 'news').replace('<name>', 'order.paid'),
      );
      expect(names).to.include.members([
        'email.sent',
        'email.unknown',
        'webhook.test',
        'segment.vips.entry',
        'job.failed',
      ]);
      const prefixes = ['*', 'email.*', 'segment.*', 'segment.vips.*', 'event.*', 'event.order.*'];
      const answer = await project.server.post('/webhook-endpoints', { url: URL, types: [...names, ...prefixes] });
      expect(answer.status).to.equal(201);
    });

    it('rejects a 21st endpoint with 409, also of concurrent requests', async () => {
      const answers = await Promise.all(
        Array.from({ length: 22 }, () => project.server.post('/webhook-endpoints', { url: URL, types: ['*'] })),
      );
      expect(answers.filter(({ status }) => status === 201)).to.have.length(20);
      const [refused] = answers.filter(({ status }) => status !== 201);
      expect(refused).to.have.property('status', 409);
      expect((bodyOf(refused as ApiAnswer).error as Json).message).to.equal(
        'This project has reached the limit of 20 webhook endpoints.',
      );
    });
  });

  describe('access', () => {
    it('is for the secret key and for sessions of an ADMIN', async () => {
      const { id } = await create();
      expect((await project.owner.get(`/webhook-endpoints/${id}`)).status).to.equal(200);
      expect((await project.browser.get('/webhook-endpoints')).status).to.equal(401);
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      const asMember = { 'x-project-id': project.id };
      for (const path of [
        '/webhook-endpoints',
        `/webhook-endpoints/${id}`,
        `/webhook-endpoints/${id}/secret`,
        '/webhook-endpoints/types',
      ])
        expect((await member.get(path, asMember)).status, path).to.equal(403);
    });

    it('answers 404 to the ids of another project, without an effect', async () => {
      const { id } = await create();
      await project.browser.post('/v1/track', { email: 'ann@example.com', event: 'bought' });
      await relayWebhooks(api.db);
      const [{ id: deliveryId }] = (
        bodyOf(await project.server.get(`/webhook-endpoints/${id}/deliveries`)) as { data: { id: string }[] }
      ).data as [{ id: string }];
      const { server } = await api.project();
      const calls: [string, string, unknown?][] = [
        ['GET', `/webhook-endpoints/${id}`],
        ['PATCH', `/webhook-endpoints/${id}`, { enabled: false }],
        ['DELETE', `/webhook-endpoints/${id}`],
        ['GET', `/webhook-endpoints/${id}/secret`],
        ['POST', `/webhook-endpoints/${id}/rotate-secret`, {}],
        ['POST', `/webhook-endpoints/${id}/test`],
        ['POST', `/webhook-endpoints/${id}/recover`, { since: '2026-01-01T00:00:00Z' }],
        ['GET', `/webhook-endpoints/${id}/deliveries`],
        ['GET', `/webhook-deliveries/${deliveryId}`],
        ['POST', `/webhook-deliveries/${deliveryId}/replay`],
        ['GET', `/webhook-deliveries/${newId()}`],
        ['GET', '/webhook-endpoints/no-id'],
      ];
      const before = (await project.server.get(`/webhook-endpoints/${id}`)).body;
      for (const [method, path, body] of calls)
        expect((await server.request(method, path, body)).status, `${method} ${path}`).to.equal(404);
      expect((await project.server.get(`/webhook-endpoints/${id}`)).body).to.deep.equal(before);
      expect((await project.server.get(`/webhook-endpoints/${id}/deliveries`)).body.data).to.have.length(1);
    });
  });

  describe('PATCH and DELETE /webhook-endpoints/:id', () => {
    it('changes what is given and keeps hidden headers', async () => {
      const { id, secret, ...before } = await create({ headers: { 'X-A': '1', 'X-B': '2' } });
      const answer = await project.server.patch(`/webhook-endpoints/${id}`, {
        types: ['job.*'],
        headers: { 'X-A': '•••', 'X-C': '3' },
        ratePerSecond: 7,
        url: receiver.url,
      });
      expect(answer.status).to.equal(200);
      expect(bodyOf(answer)).to.deep.include({
        ...before,
        id,
        url: receiver.url,
        types: ['job.*'],
        headers: { 'X-A': '•••', 'X-C': '•••' },
        ratePerSecond: 7,
        updatedAt: bodyOf(answer).updatedAt,
      });
      const driver = driveWebhooks(api.db, [receiver.host]);
      const { deliveryId } = bodyOf(await project.server.post(`/webhook-endpoints/${id}/test`));
      await driver.deliver(id as string);
      driver.stop();
      const [request] = await receiver.received(1);
      expect(request?.headers).to.include({ 'x-a': '1', 'x-c': '3' });
      expect(new Webhook(secret as string).verify(request?.body ?? '', request?.headers as never)).to.be.an('object');
      const whole = bodyOf(await project.server.get(`/webhook-deliveries/${deliveryId}`));
      expect(whole).to.include({ id: deliveryId, status: 'DELIVERED', type: 'webhook.test' });
      expect(whole.attemptLog).to.have.length(1);
      expect((await project.server.patch(`/webhook-endpoints/${id}`, { headers: null })).body).to.deep.include({
        headers: {},
      });
      expect((await project.server.patch(`/webhook-endpoints/${id}`, { url: 'http://10.0.0.1/' })).status).to.equal(
        400,
      );
    });

    it('disables and enables by hand', async () => {
      const { id } = await create();
      expect(bodyOf(await project.server.patch(`/webhook-endpoints/${id}`, { enabled: false }))).to.include({
        enabled: false,
        disabledReason: null,
      });
      await setEndpoints(api.db, { id }, { disabledReason: 'failing', failingSince: new Date() });
      expect(bodyOf(await project.server.patch(`/webhook-endpoints/${id}`, { enabled: true }))).to.include({
        enabled: true,
        disabledReason: null,
        failingSince: null,
      });
    });

    it('shows what a deleted endpoint has not received as DISCARDED, and replays none of it', async () => {
      const { id } = await create();
      await project.browser.post('/v1/track', { email: 'ann@example.com', event: 'bought' });
      await relayWebhooks(api.db);
      const { data } = bodyOf(await project.server.get(`/webhook-endpoints/${id}/deliveries`)) as { data: Json[] };
      expect(data.map(({ type, status }) => [type, status])).to.deep.equal([['contact.created', 'PENDING']]);
      expect((await project.server.delete(`/webhook-endpoints/${id}`)).status).to.equal(204);
      expect((await project.server.get(`/webhook-endpoints/${id}`)).status).to.equal(404);
      const path = `/webhook-deliveries/${data[0]?.id}`;
      expect(bodyOf(await project.server.get(path))).to.include({ status: 'DISCARDED', nextAttemptAt: null });
      expect((await project.server.post(`${path}/replay`)).status).to.equal(409);
      await project.browser.post('/v1/track', { email: 'bob@example.com', event: 'bought' });
      expect(await queuedWebhookRows(api.db, project.id)).to.deep.equal([]);
    });
  });

  describe('POST /webhook-endpoints/:id/rotate-secret', () => {
    it('answers with a new secret and checks the overlap', async () => {
      const { id, secret } = await create();
      const answer = await project.server.post(`/webhook-endpoints/${id}/rotate-secret`, { overlapHours: 168 });
      expect(answer.status).to.equal(200);
      expect(bodyOf(answer).secret)
        .to.match(/^whsec_/)
        .and.not.equal(secret);
      expect((await project.server.post(`/webhook-endpoints/${id}/rotate-secret`)).status).to.equal(200);
      for (const overlapHours of [-1, 169, 1.5, 'a day'])
        expect((await project.server.post(`/webhook-endpoints/${id}/rotate-secret`, { overlapHours })).status).to.equal(
          422,
        );
    });

    it('answers 409 when ten earlier secrets still sign, unless the overlap is 0', async () => {
      const { id } = await create();
      const rotate = (overlapHours: number) =>
        project.server.post(`/webhook-endpoints/${id}/rotate-secret`, { overlapHours });
      for (let n = 0; n < 10; n++) expect(await rotate(1)).to.have.status(200);
      expect(await rotate(1)).to.be.envelope(409, 'CONFLICT');
      expect(await rotate(0)).to.have.status(200);
    });
  });

  describe('GET /webhook-endpoints/:id/secret', () => {
    it('needs the scope webhooks:write, as the webhook secret of the project does', async () => {
      const { id } = await create();
      for (const path of [`/webhook-endpoints/${id}/secret`, `/projects/${project.id}/webhook-secret`]) {
        expect(await (await scoped('webhooks:read')).get(path)).to.be.envelope(403, 'FORBIDDEN');
        expect(await (await scoped('webhooks:write')).get(path)).to.have.status(200);
      }
    });
  });

  describe('GET /webhook-endpoints/:id/deliveries', () => {
    it('pages, and filters by status, type and time', async () => {
      const { id } = await create({ types: ['event.*'] });
      for (const event of ['a', 'b', 'c']) await project.browser.post('/v1/track', { email: 'ann@example.com', event });
      await relayWebhooks(api.db);
      const get = async (query = '') => bodyOf(await project.server.get(`/webhook-endpoints/${id}/deliveries${query}`));
      const first = await get('?limit=2');
      expect(first).to.include({ hasMore: true, total: 3 });
      expect((first.data as Json[]).map(({ type }) => type)).to.deep.equal(['event.c', 'event.b']);
      const second = await get(`?limit=2&cursor=${first.cursor}`);
      expect((second.data as Json[]).map(({ type }) => type)).to.deep.equal(['event.a']);
      expect(second).to.include({ hasMore: false, cursor: null });
      expect((await get('?type=event.b')).total).to.equal(1);
      expect((await get('?status=PENDING')).total).to.equal(3);
      expect((await get('?status=DELIVERED')).total).to.equal(0);
      expect((await get(`?since=${new Date(Date.now() + 60_000).toISOString()}`)).total).to.equal(0);
      const [delivery] = (await get()).data as Json[];
      expect(delivery).to.have.all.keys(
        'id',
        'endpointId',
        'eventId',
        'type',
        'status',
        'attempts',
        'nextAttemptAt',
        'lastStatusCode',
        'lastError',
        'createdAt',
        'deliveredAt',
      );
      expect((await project.server.get(`/webhook-endpoints/${id}/deliveries?status=LOST`)).status).to.equal(400);
      expect((await project.server.get(`/webhook-endpoints/${id}/deliveries?since=yesterday`)).status).to.equal(400);
    });

    it('shows an open delivery of 31 days ago as DISCARDED', async () => {
      const { id } = await create({ types: ['event.*'] });
      await project.browser.post('/v1/track', { email: 'ann@example.com', event: 'old' });
      await relayWebhooks(api.db);

      await moveWebhooksBack(api.db, project.id, 31);
      const { data } = bodyOf(await project.server.get(`/webhook-endpoints/${id}/deliveries?status=DISCARDED`)) as {
        data: Json[];
      };
      expect(data.map(({ status, type }) => [status, type])).to.deep.equal([['DISCARDED', 'event.old']]);
    });
  });

  describe('replay, recover and test', () => {
    it('answer 202', async () => {
      const { id } = await create({ types: ['event.*'] });
      await project.server.patch(`/webhook-endpoints/${id}`, { enabled: false });
      const since = new Date(Date.now() - 1_000).toISOString();
      await project.browser.post('/v1/track', { email: 'ann@example.com', event: 'missed' });
      await relayWebhooks(api.db);
      await project.server.patch(`/webhook-endpoints/${id}`, { enabled: true });
      const recovered = await project.server.post(`/webhook-endpoints/${id}/recover`, { since });
      expect([recovered.status, recovered.body]).to.deep.equal([202, { count: 1 }]);
      const { deliveryId } = bodyOf(await project.server.post(`/webhook-endpoints/${id}/test`));
      const replayed = await project.server.post(`/webhook-deliveries/${deliveryId}/replay`);
      expect(replayed.status).to.equal(202);
      const copy = bodyOf(await project.server.get(`/webhook-deliveries/${bodyOf(replayed).deliveryId}`));
      const original = bodyOf(await project.server.get(`/webhook-deliveries/${deliveryId}`));
      expect(copy.eventId).to.equal(original.eventId);
      expect(copy.payload).to.deep.equal(original.payload);
      for (const body of [{}, { since: 'x' }, { since: 5 }])
        expect((await project.server.post(`/webhook-endpoints/${id}/recover`, body)).status).to.equal(422);
      const backwards = { since: '2026-02-01T00:00:00Z', until: '2026-01-01T00:00:00Z' };
      for (const far of ['1969-12-31T00:00:00Z', '9999-12-31T23:59:59Z'])
        expect(await project.server.post(`/webhook-endpoints/${id}/recover`, { since: far })).to.be.envelope(
          400,
          'BAD_REQUEST',
        );
      const refused = await project.server.post(`/webhook-endpoints/${id}/recover`, backwards);
      expect(refused).to.be.envelope(422, 'VALIDATION_ERROR');
      expect(refused.body.error.errors[0]).to.include({ field: 'until', received: backwards.until });
    });
  });

  describe('recover and test of a disabled endpoint', () => {
    it('answer 409 with the reason', async () => {
      const { id } = await create();
      await project.server.patch(`/webhook-endpoints/${id}`, { enabled: false });
      for (const [disabledReason, reason] of [
        [null, 'it was disabled by a member or an API key'],
        ['gone', 'it responded with 410 Gone'],
        ['failing', 'its deliveries failed for five days'],
      ]) {
        await setEndpoints(api.db, { id }, { disabledReason });
        for (const [path, body] of [
          ['test', {}],
          ['recover', { since: '2026-01-01T00:00:00Z' }],
        ] as const) {
          const refused = await project.server.post(`/webhook-endpoints/${id}/${path}`, body);
          expect(refused).to.be.envelope(409, 'CONFLICT');
          expect(refused.body.error.message).to.equal(`The endpoint is disabled: ${reason}.`);
        }
      }
      expect(await storedDeliveries(api.db, { projectId: project.id })).to.deep.equal([]);
    });
  });

  describe('GET /webhook-endpoints/listen', () => {
    /** Opens a stream; `read` returns the next message. */
    async function listen(
      query = '',
      headers: Record<string, string> = { authorization: `Bearer ${project.secretKey}` },
    ) {
      const controller = new AbortController();
      const response = await fetch(`${api.url}/webhook-endpoints/listen${query}`, {
        headers,
        signal: controller.signal,
      });
      const chunks = (response.body as ReadableStream<Uint8Array>).getReader();
      let text = '';
      const read = async (): Promise<Json> => {
        for (;;) {
          const [message, ...rest] = text.split('\n\n');
          if (rest.length > 0) {
            text = rest.join('\n\n');
            const line = message?.split('\n').find((part) => part.startsWith('data: '));
            if (line) return JSON.parse(line.slice('data: '.length));
          } else text += Buffer.from((await chunks.read()).value ?? []).toString();
        }
      };
      const ended = async () => {
        while (!(await chunks.read()).done);
      };
      return { response, read, ended, close: () => controller.abort() };
    }

    it('streams deliveries with headers and signature, and stores none', async () => {
      const stream = await listen('?types=event.*');
      expect(stream.response.headers.get('content-type')).to.match(/^text\/event-stream/);
      await eventually(async () => (await openListeners(api.db, project.id)).length === 1);
      await project.browser.post('/v1/track', { email: 'ann@example.com', event: 'heard', data: { a: 1 } });
      await relayWebhooks(api.db);
      const message = await stream.read();
      expect(message).to.include({ type: 'event.heard' });
      expect(message.data).to.deep.include({ name: 'heard', data: { a: 1 } });
      const secret = stream.response.headers.get('x-webhook-secret') ?? '';
      expect(new Webhook(secret).verify(message.body as string, message.headers as never)).to.deep.include({
        type: 'event.heard',
      });
      expect(await storedWebhookEvents(api.db, { projectId: project.id })).to.deep.equal([]);
      expect(await storedDeliveries(api.db, { projectId: project.id })).to.deep.equal([]);
      stream.close();
      await eventually(async () => (await countRows(api.db, 'wanted_webhook_types', { projectId: project.id })) === 0);
      expect(await countRows(api.db, 'webhook_listener_messages', { projectId: project.id })).to.equal(0);
    });

    it('ends when the membership, the session or the key ends', async () => {
      const admin = await person(api, { project: project.id, role: 'ADMIN' });
      const inProject = { 'x-project-id': project.id };
      const made = await project.owner.post(`/projects/${project.id}/keys`, { name: 'CI', scopes: ['webhooks:read'] });
      const { id, key } = bodyOf(made);
      const byMember = await listen('', { cookie: admin.cookie, ...inProject });
      const bySession = await listen('', { cookie: project.cookie, ...inProject });
      const byKey = await listen('', { authorization: `Bearer ${key}` });
      expect(byKey.response.headers.get('x-webhook-secret')).to.equal(null);
      expect(await project.owner.delete(`/projects/${project.id}/keys/${id}`)).to.have.status(204);
      await byKey.ended();
      expect(await project.owner.delete(`/projects/${project.id}/members/${admin.id}`)).to.have.status(204);
      await byMember.ended();
      await endSessions(api.db, project.userId);
      await bySession.ended();
      await eventually(async () => (await openListeners(api.db, project.id)).length === 0);
    });

    it('rejects unknown types with 400, and a sixth stream with 429', async () => {
      expect((await project.server.get('/webhook-endpoints/listen?types=email.nothing')).status).to.equal(400);
      const streams = [];
      for (let n = 0; n < 5; n++) streams.push(await listen());
      expect((await project.server.get('/webhook-endpoints/listen')).status).to.equal(429);
      for (const stream of streams) stream.close();
      await eventually(async () => (await openListeners(api.db, project.id)).length === 0);
    });
  });
});
