import { expect } from 'chai';
import { hashToken } from '../../platform/crypto/secrets.ts';
import { person } from '../support/accounts.ts';
import { type ApiProject, type Client, client, startTestApi, type TestApi } from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { readEventNames } from '../support/reading.ts';
import { expireScopedKey, setScopedKey, storedScopedKey } from '../support/rows/accounts.ts';
import { blockProject } from '../support/rows/projects.ts';

describe('keys with scopes', () => {
  let database: ConnectedDatabase;
  let api: TestApi;
  let second: TestApi;
  let project: ApiProject;
  let path: string;

  before(async () => {
    database = await connectTestDatabase(10);
    const env = { TRUST_PROXY: '1' };
    api = await startTestApi({ database, env });
    second = await startTestApi({ database, env });
  });
  after(async () => {
    await second.stop();
    await api.stop();
    await database.close();
  });
  beforeEach(async () => {
    project = await api.project();
    path = `/projects/${project.id}/keys`;
  });

  const create = async (more: object = {}) => {
    const answer = await project.owner.post(path, { name: 'CI', scopes: ['all'], ...more });
    expect(answer).to.have.status(201);
    return answer.body;
  };
  const using = (key: string, at: TestApi = api): Client => client(at.url, { authorization: `Bearer ${key}` });
  const mail = () => ({ to: 'ann@example.com', from: `a@${project.senderDomain}`, subject: 's', body: 'b' });

  describe('POST /projects/:id/keys', () => {
    it('answers 201 with a key that works at once, is shown once and stored as a hash', async () => {
      const made = await create({ name: 'Shop', scopes: ['send:write', 'contacts:read', 'send:write'] });
      expect(made).to.have.all.keys(
        'id',
        'name',
        'scopes',
        'expiresAt',
        'allowedIps',
        'lastUsedAt',
        'createdAt',
        'createdBy',
        'createdByEmail',
        'prefix',
        'key',
      );
      expect(made.key).to.match(/^sk_[A-Za-z0-9]{48}$/);
      expect(made).to.deep.include({ name: 'Shop', scopes: ['send:write', 'contacts:read'], allowedIps: [] });
      expect(made).to.include({ expiresAt: null, lastUsedAt: null, createdBy: project.userId });
      expect(made.key.startsWith(made.prefix)).to.equal(true);
      for (const at of [api, second]) expect(await using(made.key, at).post('/v1/send', mail())).to.have.status(200);
      const [listed, ...others] = (await project.owner.get(path)).body;
      expect(others).to.deep.equal([]);
      expect(listed).to.include({ id: made.id, prefix: made.prefix });
      expect(listed).not.to.have.property('key');
      const row = await storedScopedKey(api.db, made.id);
      expect(row.keyHash.equals(hashToken(made.key))).to.equal(true);
      expect(JSON.stringify(row)).not.to.include(made.key);
    });

    it('rejects bad input with 422 and names the field', async () => {
      const cases: [object, string][] = [
        [{ name: '' }, 'name'],
        [{ name: 'x'.repeat(256) }, 'name'],
        [{ scopes: [] }, 'scopes'],
        [{ scopes: ['everything'] }, 'scopes.0'],
        [{ scopes: ['contacts'] }, 'scopes.0'],
        [{ scopes: undefined }, 'scopes'],
        [{ expiresAt: new Date(Date.now() - 1000).toISOString() }, 'expiresAt'],
        [{ expiresAt: 'soon' }, 'expiresAt'],
        [{ allowedIps: ['10.0.0.0/33'] }, 'allowedIps.0'],
        [{ allowedIps: ['localhost'] }, 'allowedIps.0'],
        [{ allowedIps: Array.from({ length: 101 }, () => '10.0.0.1') }, 'allowedIps'],
      ];
      for (const [bad, field] of cases) {
        const answer = await project.owner.post(path, { name: 'CI', scopes: ['all'], ...bad });
        expect(answer, JSON.stringify(bad)).to.be.envelope(422, 'VALIDATION_ERROR');
        expect(answer.body.error.errors[0].field).to.equal(field);
      }
      expect((await project.owner.get(path)).body).to.deep.equal([]);
    });

    it('rejects a 21st key with 409, also when many are created at once, until one is revoked', async () => {
      const answers = await Promise.all(
        Array.from({ length: 25 }, () => project.owner.post(path, { name: 'CI', scopes: ['all'] })),
      );
      expect(answers.filter(({ status }) => status === 201)).to.have.length(20);
      for (const answer of answers) if (answer.status !== 201) expect(answer).to.be.envelope(409, 'CONFLICT');
      const [first] = (await project.owner.get(path)).body;
      expect(await project.owner.delete(`${path}/${first.id}`)).to.have.status(204);
      await create();
    });
  });

  describe('scopes', () => {
    it('rejects a call outside them with 403 that names the missing scope', async () => {
      const { key } = await create({ scopes: ['contacts:read'] });
      expect(await using(key).get('/contacts')).to.have.status(200);
      const answer = await using(key).post('/contacts', { email: 'ann@example.com' });
      expect(answer).to.be.envelope(403, 'FORBIDDEN');
      expect(answer.body.error.message).to.include('contacts:write');
      expect(answer.body.error.details).to.include({ missingScope: 'contacts:write' });
      expect(await using(key).post('/v1/send', mail())).to.be.envelope(403, 'FORBIDDEN');
    });

    it('includes reading in writing, and everything in all', async () => {
      const { key } = await create({ scopes: ['contacts:write'] });
      expect(await using(key).get('/contacts')).to.have.status(200);
      const { key: all } = await create();
      expect(await using(all).get(`/projects/${project.id}/webhook-secret`)).to.have.status(200);
      expect(await using(all).get(path), 'keys are made by sessions only').to.be.envelope(401, 'UNAUTHORIZED');
    });

    it('needs send:write to send test mail', async () => {
      const { from } = mail();
      const draft = { name: 'x', subject: 's', body: 'b', from };
      const { id: templateId } = (await project.server.post('/templates', { ...draft, type: 'TRANSACTIONAL' })).body;
      const { id: campaignId } = (await project.server.post('/campaigns', { ...draft, audienceType: 'ALL' })).body.data;
      const both = ['templates:write', 'campaigns:write'];
      const { key: without } = await create({ scopes: both });
      const { key: may } = await create({ scopes: [...both, 'send:write'] });
      for (const test of [`/templates/${templateId}/test`, `/campaigns/${campaignId}/test`]) {
        const refused = await using(without).post(test, { email: 'ann@example.com' });
        expect(refused).to.be.envelope(403, 'FORBIDDEN');
        expect(refused.body.error.message).to.include('send:write');
        expect(await using(may).post(test, { email: 'ann@example.com' }), test).to.have.status(200);
      }
    });

    it('needs contacts:read to render or simulate with a stored contact', async () => {
      const { id: contactId } = (await project.server.post('/contacts', { email: 'ann@example.com' })).body;
      const { id } = (await project.server.post('/workflows', { name: 'w', eventName: 'x' })).body;
      const graph = { steps: [{ id: 'out', type: 'EXIT', config: { reason: 'done' } }], transitions: [] };
      const both = ['templates:read', 'workflows:read'];
      const { key: without } = await create({ scopes: both });
      const { key: may } = await create({ scopes: [...both, 'contacts:read'] });
      const simulate = `/workflows/${id}/simulate`;
      const stored: [string, object][] = [
        ['/render', { body: '{{email}}', contactId }],
        [simulate, { graph, contactId }],
        [simulate, { graph, email: 'ann@example.com' }],
        [simulate, { graph, contact: { id: contactId, data: {} } }],
      ];
      for (const [path, body] of stored) {
        const refused = await using(without).post(path, body);
        expect(refused, path).to.be.envelope(403, 'FORBIDDEN');
        expect(refused.body.error.details).to.include({ missingScope: 'contacts:read' });
        expect(await using(may).post(path, body), path).to.have.status(200);
      }
      expect(await using(without).post('/render', { body: 'b', data: { plan: 'pro' } })).to.have.status(200);
      const invented = { graph, contact: { email: 'ann@example.com', data: { plan: 'pro' } } };
      expect(await using(without).post(simulate, invented)).to.have.status(200);
    });

    it('does not let a scoped key track', async () => {
      const { key } = await create();
      expect(await using(key).post('/v1/track', { email: 'a@b.co', event: 'x' })).to.be.envelope(
        401,
        'INVALID_API_KEY',
      );
    });
  });

  describe('DELETE /projects/:id/keys/:keyId', () => {
    it('ends the key at once in every process, and in those that were not notified yet', async () => {
      const made = await create();
      const { id: contactId } = (await project.server.post('/contacts', { email: 'ann@example.com' })).body;
      const calls = [api, second].flatMap((at) => [
        () => using(made.key, at).get('/contacts'),
        () => using(made.key, at).post('/contacts', { email: 'ann@example.com' }),
        () => using(made.key, at).post('/events/track', { name: 'x', contactId }),
        () => using(made.key, at).patch(`/contacts/${contactId}`, { subscribed: true }),
        () => using(made.key, at).post('/v1/send', mail()),
        () => using(made.key, at).post('/v1/send', mail(), { 'idempotency-key': crypto.randomUUID() }),
      ]);
      for (const call of calls) expect((await call()).status).to.be.within(200, 201);
      // As revoking does, without the notification.
      await setScopedKey(api.db, made.id, { revokedAt: new Date() });
      for (const call of calls) expect(await call()).to.be.envelope(401, 'INVALID_API_KEY');
      const other = await create();
      expect(await using(other.key, second).post('/v1/send', mail())).to.have.status(200);
      expect(await project.owner.delete(`${path}/${other.id}`)).to.have.status(204);
      expect(await using(other.key, second).post('/v1/send', mail())).to.be.envelope(401, 'INVALID_API_KEY');
      expect(await project.owner.delete(`${path}/${other.id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect((await project.owner.get(path)).body).to.deep.equal([]);
    });

    it('leaves all other keys working, which a rotation of the key pair does too', async () => {
      const kept = await create();
      const revoked = await create();
      const callers = [using(kept.key), using(kept.key, second)];
      for (const caller of [...callers, project.server])
        expect(await caller.post('/v1/send', mail())).to.have.status(200);
      await project.owner.delete(`${path}/${revoked.id}`);
      for (const caller of [...callers, project.server])
        expect(await caller.post('/v1/send', mail())).to.have.status(200);
      await project.owner.post(`/users/@me/projects/${project.id}/regenerate-keys`);
      for (const caller of callers) expect(await caller.post('/v1/send', mail())).to.have.status(200);
    });

    it('works while the project is disabled, in which keys only read', async () => {
      const made = await create();
      await blockProject(api.db, project.id);
      expect(await using(made.key).get('/contacts')).to.have.status(200);
      expect(await using(made.key).post('/v1/send', mail())).to.be.envelope(403, 'PROJECT_DISABLED');
      expect(await project.owner.delete(`${path}/${made.id}`)).to.have.status(204);
    });

    it('answers 404 to a key of another project', async () => {
      const other = await api.project();
      const foreign = (await other.owner.post(`/projects/${other.id}/keys`, { name: 'x', scopes: ['all'] })).body;
      expect(await project.owner.delete(`${path}/${foreign.id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect(await using(foreign.key).get('/contacts')).to.have.status(200);
    });
  });

  it('rejects keys of a deleted project with 401', async () => {
    const { key } = await create();
    expect(await using(key).post('/v1/send', mail())).to.have.status(200);
    expect(await project.owner.delete(`/users/@me/projects/${project.id}`)).to.have.status(204);
    expect(await using(key).post('/v1/send', mail())).to.be.envelope(401, 'INVALID_API_KEY');
    expect(await using(key).get('/contacts')).to.be.envelope(401, 'INVALID_API_KEY');
  });

  it('rejects an expired key with 401, also one that is cached', async () => {
    const made = await create({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    const { key, id } = made;
    expect(await using(key).post('/v1/send', mail())).to.have.status(200);
    await expireScopedKey(api.db, id);
    for (const at of [api, second])
      for (const call of [
        () => using(key, at).post('/v1/send', mail()),
        () => using(key, at).post('/templates', { name: 't', subject: 's', body: 'b', type: 'MARKETING' }),
        () => using(key, at).get('/contacts'),
      ])
        expect(await call()).to.be.envelope(401, 'INVALID_API_KEY');
    expect((await project.owner.get(path)).body[0], 'still listed').to.include({ id });
  });

  it('accepts calls from the allowed addresses only', async () => {
    const { key } = await create({ allowedIps: ['192.0.2.0/24', '2001:db8::/48', '::1', '203.0.113.7'] });
    const from = (ip: string) => using(key).post('/v1/send', mail(), { 'x-forwarded-for': ip });
    for (const ip of ['192.0.2.200', '2001:db8:0:1::5', '::1', '203.0.113.7', '::ffff:203.0.113.7'])
      expect(await from(ip), ip).to.have.status(200);
    for (const ip of ['192.0.3.1', '2001:db9::5', '203.0.113.8', '::2'])
      expect(await from(ip), ip).to.be.envelope(401, 'INVALID_API_KEY');
    expect(await using(key).get('/contacts'), '127.0.0.1').to.be.envelope(401, 'INVALID_API_KEY');
  });

  it('writes lastUsedAt at most once a minute, over all processes', async () => {
    const made = await create({ scopes: ['send:write'] });
    const lastUsedAt = async () => (await project.owner.get(path)).body[0].lastUsedAt;
    expect(await using(made.key).get('/contacts'), 'outside its scopes').to.have.status(403);
    expect(await lastUsedAt()).to.equal(null);
    await using(made.key).post('/v1/send', mail());
    const first = await lastUsedAt();
    expect(new Date(first).toISOString()).to.equal(first);
    for (const at of [api, second]) await using(made.key, at).post('/v1/send', mail());
    expect(await lastUsedAt()).to.equal(first);
    const earlier = new Date(Date.now() - 61_000);
    await setScopedKey(api.db, made.id, { lastUsedAt: earlier });
    const third = await startTestApi({ database });
    await using(made.key, third).post('/v1/send', mail());
    await third.stop();
    expect(new Date(await lastUsedAt()).getTime()).to.be.greaterThan(earlier.getTime());
  });

  it('is for ADMINs', async () => {
    const member = await person(api, { project: project.id, role: 'MEMBER' });
    const admin = await person(api, { project: project.id, role: 'ADMIN' });
    expect(await member.get(path)).to.be.envelope(403, 'FORBIDDEN');
    expect(await admin.get(path)).to.have.status(200);
  });

  describe('the policy of the public key', () => {
    const settings = () => `/users/@me/projects/${project.id}`;
    const track = (event: string, origin?: string, at: TestApi = api) =>
      client(at.url, { authorization: `Bearer ${project.publicKey}` }).post(
        '/v1/track',
        { email: 'ann@example.com', event },
        origin === undefined ? {} : { origin },
      );

    it('allows everything by default', async () => {
      const { body } = await project.owner.get(`/projects/${project.id}`);
      expect(body.publicKeyPolicy).to.deep.equal({ origins: [], events: [] });
      expect(await track('anything', 'https://anywhere.example')).to.have.status(200);
      expect(await track('anything')).to.have.status(200);
    });

    it('rejects other events and origins with 403 from the answer on, in every process, and stores nothing', async () => {
      for (const at of [api, second]) expect(await track('seen', undefined, at)).to.have.status(200);
      const policy = { origins: ['https://Shop.example', 'http://localhost:3000'], events: ['seen', 'bought'] };
      const answer = await project.owner.patch(settings(), { publicKeyPolicy: policy });
      expect(answer).to.have.status(200);
      expect(answer.body.publicKeyPolicy).to.deep.equal({
        origins: ['https://shop.example', 'http://localhost:3000'],
        events: ['seen', 'bought'],
      });
      const events = () => readEventNames(project);
      const before = await events();
      const contacts = (await project.server.get('/contacts')).body.total;
      for (const at of [api, second]) {
        expect(await track('clicked', 'https://shop.example', at)).to.be.envelope(403, 'FORBIDDEN');
        expect(await track('seen', 'https://evil.example', at)).to.be.envelope(403, 'FORBIDDEN');
        expect(await track('seen', 'https://shop.example:444', at)).to.be.envelope(403, 'FORBIDDEN');
        expect(await track('seen', undefined, at), 'without an origin').to.be.envelope(403, 'FORBIDDEN');
      }
      expect(await events()).to.deep.equal(before);
      expect((await project.server.get('/contacts')).body.total).to.equal(contacts);
      for (const at of [api, second]) {
        expect(await track('bought', 'https://shop.example', at)).to.have.status(200);
        expect(await track('seen', 'http://localhost:3000', at)).to.have.status(200);
      }
    });

    it('refuses only the requests outside it when several share a statement', async () => {
      await project.owner.patch(settings(), { publicKeyPolicy: { events: ['seen'] } });
      const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => track(n % 2 ? 'seen' : 'other')));
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map((_, n) => (n % 2 ? 200 : 403)));
    });

    it('does not apply to the secret key', async () => {
      await project.owner.patch(settings(), { publicKeyPolicy: { events: ['seen'] } });
      const body = { email: 'ann@example.com', name: 'other' };
      const { id: contactId } = (await project.server.post('/contacts', { email: body.email })).body;
      expect((await project.server.post('/events/track', { ...body, contactId })).status).to.be.within(200, 201);
    });

    it('is replaced as a whole, and ends with null', async () => {
      await project.owner.patch(settings(), { publicKeyPolicy: { origins: ['https://a.example'], events: ['seen'] } });
      const { body } = await project.owner.patch(settings(), { publicKeyPolicy: { events: ['bought'] } });
      expect(body.publicKeyPolicy).to.deep.equal({ origins: [], events: ['bought'] });
      expect((await project.owner.patch(settings(), { name: 'New' })).body.publicKeyPolicy.events).to.have.length(1);
      expect(await track('seen')).to.be.envelope(403, 'FORBIDDEN');
      await project.owner.patch(settings(), { publicKeyPolicy: null });
      expect(await track('seen')).to.have.status(200);
    });

    it('rejects bad origins and names with 422', async () => {
      const cases: [object, string][] = [
        [{ origins: ['shop.example'] }, 'publicKeyPolicy.origins.0'],
        [{ origins: ['https://shop.example/'] }, 'publicKeyPolicy.origins.0'],
        [{ origins: ['https://shop.example/path'] }, 'publicKeyPolicy.origins.0'],
        [{ origins: ['file:///x'] }, 'publicKeyPolicy.origins.0'],
        [{ origins: 'https://shop.example' }, 'publicKeyPolicy.origins'],
        [{ events: ['email.sent'] }, 'publicKeyPolicy.events.0'],
        [{ events: [''] }, 'publicKeyPolicy.events.0'],
        [{ events: Array.from({ length: 501 }, (_, n) => `e${n}`) }, 'publicKeyPolicy.events'],
      ];
      for (const [policy, field] of cases) {
        const answer = await project.owner.patch(settings(), { publicKeyPolicy: policy });
        expect(answer, JSON.stringify(policy).slice(0, 100)).to.be.envelope(422, 'VALIDATION_ERROR');
        expect(answer.body.error.errors[0].field).to.equal(field);
      }
    });
  });
});
