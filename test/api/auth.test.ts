import { expect } from 'chai';
import { regenerateKeys } from '../../services/access/keys.ts';
import { createSession } from '../../services/sessions/sessions.ts';
import { type ApiProject, client, startTestApi, type TestApi } from '../support/api.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { setSessions } from '../support/rows/accounts.ts';
import { blockProject, setProject } from '../support/rows/projects.ts';
import { breakConnectionsOf } from '../support/rows/tables.ts';
import { eventually } from '../support/waiting.ts';

const event = { email: 'ann@example.com', event: 'x' };

describe('authentication', () => {
  let api: TestApi;
  let second: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi();
    second = await startTestApi({ database: { db: api.db, url: api.databaseUrl, close: async () => {} } });
  });
  beforeEach(async () => {
    project = await api.project();
  });
  after(async () => {
    await second.stop();
    await api.stop();
  });

  const mail = () => ({ to: 'a@b.co', from: `x@${project.senderDomain}`, subject: 's', body: 'b' });

  describe('401 INVALID_API_KEY with a message per case', () => {
    const cases: [string, (project: ApiProject) => string | undefined, RegExp][] = [
      ['no key', () => undefined, /No API key/],
      ['an empty header', () => '', /No API key/],
      ['another scheme', (p) => `Basic ${p.publicKey}`, /malformed/],
      ['a key without Bearer', (p) => p.publicKey, /malformed/],
      ['Bearer alone', () => 'Bearer ', /malformed/],
      ['a truncated key', (p) => `Bearer ${p.publicKey.slice(0, -1)}`, /malformed/],
      ['a key with trailing text', (p) => `Bearer ${p.publicKey} x`, /malformed/],
      ['an unknown key', () => `Bearer pk_${'A'.repeat(48)}`, /unknown or has been revoked/],
      [
        'the secret key, where the public one is needed',
        (p) => `Bearer ${p.secretKey}`,
        /needs the project's public key/,
      ],
    ];
    for (const [what, header, message] of cases)
      it(`on ${what}`, async () => {
        const authorization = header(project);
        const answer = await api.post('/v1/track', event, authorization === undefined ? {} : { authorization });
        expect(answer).to.be.envelope(401, 'INVALID_API_KEY');
        expect(answer.body.error.message).to.match(message);
        expect(answer.headers.get('ratelimit-limit'), 'no project is charged for it').to.equal(null);
      });

    it('on a public key where the route requires the secret one', async () => {
      const answer = await project.browser.post('/v1/send', mail());
      expect(answer).to.be.envelope(401, 'INVALID_API_KEY');
      expect(answer.body.error.message).to.match(/needs the project's secret key/);
    });

    it('on a session under /v1, which accepts keys only', async () => {
      expect(await project.owner.post('/v1/send', mail())).to.be.envelope(401, 'INVALID_API_KEY');
    });
  });

  it('accepts "bearer" in upper and lower case', async () => {
    const answer = await api.post('/v1/track', event, { authorization: `bearer ${project.publicKey}` });
    expect(answer).to.have.status(200);
  });

  describe('rotated keys', () => {
    it('are rejected in every process at once, and the new ones work', async () => {
      const elsewhere = client(second.url, { authorization: `Bearer ${project.publicKey}` });
      expect(await project.browser.post('/v1/track', event)).to.have.status(200);
      expect(await elsewhere.post('/v1/track', event)).to.have.status(200);
      const keys = await regenerateKeys(api.db, project.id);
      for (const caller of [project.browser, elsewhere]) {
        const answer = await caller.post('/v1/track', event);
        expect(answer).to.be.envelope(401, 'INVALID_API_KEY');
      }
      const renewed = client(second.url, { authorization: `Bearer ${keys.publicKey}` });
      expect(await renewed.post('/v1/track', event)).to.have.status(200);
    });

    it('write nothing in a process that missed the notification', async () => {
      expect(await project.server.post('/v1/send', mail())).to.have.status(200);
      expect(await project.browser.post('/v1/track', event)).to.have.status(200);
      // Changes the generation without the notification that clears the caches.
      await setProject(api.db, project.id, { keyGeneration: 2 });
      expect(await project.server.post('/v1/send', mail())).to.be.envelope(401, 'INVALID_API_KEY');
      expect(await project.browser.post('/v1/track', event)).to.be.envelope(401, 'INVALID_API_KEY');
      for (const table of ['emails', 'events'])
        expect(await api.db(table).where({ project_id: project.id }).pluck('id'), table).to.have.length(1);
    });

    it('are looked up in the database and rejected while no notifications arrive', async () => {
      const proxy = await startPostgresProxy(api.databaseUrl);
      const deaf = await startTestApi({ database: { db: api.db, url: proxy.url, close: async () => {} } });
      try {
        const browser = client(deaf.url, { authorization: `Bearer ${project.publicKey}` });
        expect(await browser.post('/v1/track', event)).to.have.status(200);
        // It notices that its listener has ended, and can never listen again.
        proxy.breakOn('listen "', 'sent');
        await breakConnectionsOf(api.db, 'everpost-listener');
        await eventually(() => proxy.broken() > 0, { what: 'an attempt to listen again' });
        await setProject(api.db, project.id, { publicKey: `pk_${'z'.repeat(48)}` });
        const answer = await browser.post('/v1/track', event);
        expect(answer).to.be.envelope(401, 'INVALID_API_KEY');
        expect(answer.body.error.message).to.match(/unknown or has been revoked/);
      } finally {
        await deaf.stop();
        await proxy.close();
      }
    });
  });

  describe('a disabled project', () => {
    beforeEach(async () => {
      await blockProject(api.db, project.id);
    });

    it('answers 403 PROJECT_DISABLED to writes, with the reason and the rate limit', async () => {
      const answer = await project.server.post('/v1/send', mail());
      expect(answer).to.be.envelope(403, 'PROJECT_DISABLED');
      expect(answer.body.error.message).to.contain('too many bounces');
      expect(answer.headers.get('ratelimit-limit')).to.equal('1000');
      expect(await project.browser.post('/v1/track', event)).to.be.envelope(403, 'PROJECT_DISABLED');
    });
  });

  describe('GET /users/@me', () => {
    it('returns the user of the session and no other field', async () => {
      const answer = await project.owner.get('/users/@me');
      expect(answer).to.have.status(200);
      expect(answer.body).to.have.all.keys(
        'id',
        'email',
        'emailVerified',
        'hasPassword',
        'totpEnabled',
        'operator',
        'language',
        'createdAt',
      );
      expect(answer.body).to.include({ id: project.userId, emailVerified: false });
      expect(new Date(answer.body.createdAt).toISOString()).to.equal(answer.body.createdAt);
    });

    it('answers 401 UNAUTHORIZED to a missing, unknown or ended session, and to a key', async () => {
      const ended = await createSession(api.db, project.userId);
      await setSessions(api.db, project.userId, { expiresAt: new Date(Date.now() - 1000) });
      for (const headers of [
        {},
        { cookie: `everpost_session=${'x'.repeat(48)}` },
        { cookie: `everpost_session=${ended}` },
        { cookie: 'everpost_session=' },
        { cookie: 'other=1' },
        { authorization: `Bearer ${project.secretKey}` },
      ])
        expect(await api.get('/users/@me', headers as Record<string, string>)).to.be.envelope(401, 'UNAUTHORIZED');
    });

    it('distinguishes an ended session from a missing one', async () => {
      const missing = await api.get('/users/@me');
      const ended = await api.get('/users/@me', { cookie: 'everpost_session=gone' });
      expect(missing.body.error.message).not.to.equal(ended.body.error.message);
    });

    it('accepts a GET from any origin, because it changes nothing', async () => {
      const answer = await api.get('/users/@me', { cookie: project.cookie, origin: 'https://evil.example' });
      expect(answer).to.have.status(200);
      expect(answer.headers.get('access-control-allow-origin'), 'not readable by other origins').to.equal(null);
    });
  });
});
