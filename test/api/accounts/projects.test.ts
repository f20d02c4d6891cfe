import { expect } from 'chai';
import { hashToken } from '../../../platform/crypto/secrets.ts';
import { newId } from '../../../platform/ids.ts';
import { newKeys } from '../../../services/access/keys.ts';
import { type Person, person } from '../../support/accounts.ts';
import { client, startTestApi, type TestApi } from '../../support/api.ts';
import { changeProject } from '../../support/reading.ts';
import { blockProject, setProject, storedDomains, storedProject } from '../../support/rows/projects.ts';

const keys = [
  'id',
  'name',
  'publicKey',
  'role',
  'tracking',
  'language',
  'publicKeyPolicy',
  'disabled',
  'disabledReason',
  'requireTwoFactor',
  'logRequests',
  'topicRequired',
];
const shown = [...keys, 'timezone', 'createdAt', 'updatedAt'];

describe('projects', () => {
  let api: TestApi;
  let second: TestApi;

  before(async () => {
    api = await startTestApi();
    second = await startTestApi({ database: { db: api.db, url: api.databaseUrl, close: async () => {} } });
  });
  after(async () => {
    await second.stop();
    await api.stop();
  });

  const create = async (someone: Person, body: object = { name: 'Shop' }) => {
    const answer = await someone.post('/users/@me/projects', body);
    expect(answer).to.have.status(201);
    return answer.body;
  };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

  describe('POST /users/@me/projects', () => {
    it('answers 201 with the project and both keys, which work at once', async () => {
      const someone = await person(api);
      const project = await create(someone, { name: '  Shop  ', tracking: 'DISABLED', language: 'de' });
      expect(project).to.have.all.keys(...shown, 'secretKey');
      expect(project).to.include({
        name: 'Shop',
        role: 'OWNER',
        tracking: 'DISABLED',
        language: 'de',
        disabled: false,
      });
      expect(project.publicKey).to.match(/^pk_\w{48}$/);
      expect(project.secretKey).to.match(/^sk_\w{48}$/);
      expect(await api.get('/contacts', bearer(project.secretKey))).to.have.status(200);
    });

    it('does not store the secret key', async () => {
      const project = await create(await person(api));
      const row = await storedProject(api.db, project.id);
      expect(JSON.stringify(row)).not.to.contain(project.secretKey.slice(3));
    });

    it('rejects a missing, blank, too long or deceptive name with 422', async () => {
      const someone = await person(api);
      for (const [name, code] of [
        [undefined, 'required'],
        ['', 'too_small'],
        ['   ', 'invalid_string'],
        ['x'.repeat(101), 'too_big'],
        ['Sh\u200bop', 'invalid_string'],
        ['Sh\u202eop', 'invalid_string'],
        ['\u3164', 'invalid_string'],
        ['\u2800\u2800', 'invalid_string'],
        ['Ваnk', 'invalid_string'],
        ['Shop\nBcc: x', 'invalid_string'],
        [7, 'invalid_type'],
      ] as const)
        expect(await someone.post('/users/@me/projects', { name }), String(name)).to.have.validationError('name', code);
      expect((await someone.get('/users/@me/projects')).body).to.deep.equal([]);
    });

    it('accepts names in every script and stores them normalized', async () => {
      const someone = await person(api);
      for (const [name, stored] of [
        ['Магазин', 'Магазин'],
        ['店 Shop', '店 Shop'],
        ['Ｓｈｏｐ', 'Shop'],
        ['Cafe\u0301', 'Café'],
        ['<b>{{ 7*7 }}</b>', '<b>{{ 7*7 }}</b>'],
      ] as const)
        expect((await create(someone, { name })).name).to.equal(stored);
    });

    it('rejects an unknown tracking or language with 422', async () => {
      const someone = await person(api);
      expect(await someone.post('/users/@me/projects', { name: 'x', tracking: 'NEVER' })).to.have.validationError(
        'tracking',
        'invalid_enum',
      );
      expect(await someone.post('/users/@me/projects', { name: 'x', language: '../en' })).to.have.validationError(
        'language',
        'invalid_string',
      );
    });
  });

  describe('GET /users/@me/projects', () => {
    it("returns an array of the user's projects without secret keys", async () => {
      const someone = await person(api);
      expect((await someone.get('/users/@me/projects')).body).to.deep.equal([]);
      const first = await create(someone, { name: 'A' });
      const other = await create(someone, { name: 'B' });
      await create(await person(api));
      const { body } = await someone.get('/users/@me/projects');
      expect(body.map(({ id }: { id: string }) => id)).to.deep.equal([first.id, other.id]);
      for (const project of body) expect(project).to.have.all.keys(...shown);
    });
  });

  describe('GET /projects/:id', () => {
    it('returns the project to its members and 404 to others', async () => {
      const someone = await person(api);
      const project = await create(someone);
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      expect((await someone.get(`/projects/${project.id}`)).body).to.have.all.keys(...shown);
      expect((await member.get(`/projects/${project.id}`)).body).to.include({ role: 'MEMBER' });
      const stranger = await person(api);
      for (const id of [project.id, newId(), 'no-id', '%2e%2e', "'"])
        expect(await stranger.get(`/projects/${id}`), id).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    });
  });

  describe('PATCH /users/@me/projects/:id', () => {
    it('updates name, tracking and language independently', async () => {
      const someone = await person(api);
      const { id } = await create(someone);
      const path = `/users/@me/projects/${id}`;
      expect((await someone.patch(path, { name: 'New' })).body).to.include({ name: 'New', tracking: 'ENABLED' });
      const changed = await someone.patch(path, { tracking: 'MARKETING_ONLY', language: 'pt-BR', role: 'x', id: 'y' });
      expect(changed).to.have.status(200);
      expect(changed.body).to.include({
        id,
        name: 'New',
        tracking: 'MARKETING_ONLY',
        language: 'pt-BR',
        role: 'OWNER',
      });
    });

    it('rejects updates of a disabled project with 403 PROJECT_DISABLED and allows reads', async () => {
      const someone = await person(api);
      const { id } = await create(someone);
      await blockProject(api.db, id);
      expect(await someone.patch(`/users/@me/projects/${id}`, { name: 'New' })).to.be.envelope(403, 'PROJECT_DISABLED');
      expect((await someone.get(`/projects/${id}`)).body).to.include({
        disabled: true,
        disabledReason: 'too many bounces',
      });
    });
  });

  describe('POST /users/@me/projects/:id/regenerate-keys', () => {
    it('replaces both keys at once, in every process', async () => {
      const someone = await person(api);
      const before = await create(someone);
      const callers = [api, second].map(({ url }) => client(url, bearer(before.secretKey)));
      for (const caller of callers) expect(await caller.get('/contacts')).to.have.status(200);
      const answer = await someone.post(`/users/@me/projects/${before.id}/regenerate-keys`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.have.all.keys(...shown, 'secretKey');
      expect(answer.body.publicKey).not.to.equal(before.publicKey);
      for (const caller of callers) expect(await caller.get('/contacts')).to.be.envelope(401, 'INVALID_API_KEY');
      expect(await second.get('/contacts', bearer(answer.body.secretKey))).to.have.status(200);
    });

    it('rejects old keys in processes that were not notified yet', async () => {
      const project = await api.project();
      const mail = { to: 'ann@example.com', from: `a@${project.senderDomain}`, subject: 's', body: 'b' };
      const calls = [
        () => project.server.get('/contacts'),
        () => project.server.get('/campaigns'),
        () => project.server.post('/templates', { name: 't', subject: 's', body: 'b', type: 'MARKETING' }),
        () => project.server.post('/v1/verify', { email: 'ann@example.com' }),
        () => project.server.post('/v1/send', mail),
        () => project.browser.post('/v1/track', { email: 'ann@example.com', event: 'x' }),
      ];
      for (const call of calls) expect((await call()).status).to.be.within(200, 201);
      // As in regenerateKeys, without the notification.
      const { publicKey, secretKey } = newKeys();
      const changed = {
        publicKey,
        secretKeyHash: hashToken(secretKey),
        keyGeneration: api.db.raw('key_generation + 1'),
      };
      await setProject(api.db, project.id, changed);
      for (const call of calls) expect(await call()).to.be.envelope(401, 'INVALID_API_KEY');
    });
  });

  describe('POST /users/@me/projects/:id/reset', () => {
    it('erases the data before it answers and keeps keys, domains, members and settings', async () => {
      const project = await api.project();
      const member = await person(api, { project: project.id, role: 'MEMBER' });
      await changeProject(project, { tracking: 'DISABLED' });
      await project.server.post('/contacts', { email: 'ann@example.com', data: { plan: 'pro' } });
      await project.server.post('/templates', { name: 't', subject: 's', body: 'b', type: 'MARKETING' });
      await project.browser.post('/v1/track', { email: 'ann@example.com', event: 'x' });
      const mail = { to: 'ann@example.com', from: `a@${project.senderDomain}`, subject: 's', body: 'b' };
      await project.server.post('/v1/send', mail, { 'idempotency-key': 'once' });

      const answer = await project.owner.post(`/users/@me/projects/${project.id}/reset`);
      expect(answer).to.have.status(200);
      expect(answer.body).to.include({ id: project.id, tracking: 'DISABLED', disabled: false });
      expect((await project.server.get('/contacts')).body).to.include({ total: 0 });
      expect((await project.server.get('/templates')).body).to.include({ total: 0 });
      for (const table of ['emails', 'email_contents', 'events', 'idempotency_keys', 'contact_fields'])
        expect(await api.db(table).where({ project_id: project.id }), table).to.have.length(0);
      expect(await member.get(`/projects/${project.id}`)).to.have.status(200);
      expect(await project.server.post('/v1/send', mail, { 'idempotency-key': 'once' })).to.have.status(200);
    });
  });

  describe('DELETE /users/@me/projects/:id', () => {
    it('removes the project at once for every caller and frees its domains', async () => {
      const project = await api.project();
      const elsewhere = client(second.url, bearer(project.secretKey));
      expect(await elsewhere.get('/contacts')).to.have.status(200);
      expect(await project.owner.delete(`/users/@me/projects/${project.id}`)).to.have.status(204);
      for (const caller of [project.server, elsewhere])
        expect(await caller.get('/contacts')).to.be.envelope(401, 'INVALID_API_KEY');
      const event = { email: 'a@b.co', event: 'x' };
      expect(await project.browser.post('/v1/track', event)).to.be.envelope(401, 'INVALID_API_KEY');
      expect(await project.owner.get('/contacts')).to.be.envelope(403, 'FORBIDDEN');
      expect(await project.owner.get(`/projects/${project.id}`)).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
      expect((await project.owner.get('/users/@me/projects')).body).to.deep.equal([]);
      expect(await project.owner.delete(`/users/@me/projects/${project.id}`)).to.have.status(404);
      expect(await storedDomains(api.db, { domain: project.senderDomain })).to.have.length(0);
    });

    it('works while the project is disabled', async () => {
      const project = await api.project();
      await blockProject(api.db, project.id);
      expect(await project.owner.delete(`/users/@me/projects/${project.id}`)).to.have.status(204);
    });
  });
});
