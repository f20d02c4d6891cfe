import { expect } from 'chai';
import { person } from '../support/accounts.ts';
import { type ApiAnswer, type ApiProject, client, startTestApi, type TestApi } from '../support/api.ts';
import { promoteToOperator } from '../support/rows/accounts.ts';
import { storedEvents } from '../support/rows/events.ts';
import { whileHidden } from '../support/rows/tables.ts';

const event = { email: 'ann@example.com', event: 'x' };
const rate = ({ headers }: ApiAnswer) => ({
  limit: headers.get('ratelimit-limit'),
  remaining: headers.get('ratelimit-remaining'),
  reset: headers.get('ratelimit-reset'),
});

describe('RateLimit-*', () => {
  // Each test starts APIs of its own.
  const running: TestApi[] = [];
  afterEach(async () => {
    for (let api = running.pop(); api; api = running.pop()) await api.stop();
  });

  async function start(limit: number, beside?: TestApi, more: Record<string, string> = {}): Promise<TestApi> {
    const database = beside && { db: beside.db, url: beside.databaseUrl, close: async () => {} };
    const env = { RATE_LIMIT_PER_MINUTE: String(limit), ...more };
    // Two APIs share this process, and each waits for the tokens of the other however slow the machine is.
    const api = await startTestApi({ env, rateLimiting: { maxWaitMs: 120_000 }, ...(database && { database }) });
    running.push(api);
    return api;
  }

  /** Creates a project whose windows last for an hour: they do not end during a test, however slow the machine is. */
  async function projectOf(api: TestApi): Promise<ApiProject> {
    const project = await api.project();
    const openedAt = new Date(Date.now() + 3_600_000);
    for (const table of ['rateWindows', 'sessionRateWindows'])
      await api.db(table).insert({ projectId: project.id, openedAt, granted: 0, settled: 0, lastGrant: 0 });
    return project;
  }

  it('count down by one from the limit, with whole seconds to the end of the window', async () => {
    const project = await (await start(5)).project();
    for (const remaining of ['4', '3', '2', '1', '0']) {
      const answer = await project.browser.post('/v1/track', event);
      expect(answer).to.have.status(200);
      expect(rate(answer)).to.include({ limit: '5', remaining });
      expect(rate(answer).reset).to.match(/^\d+$/);
      expect(Number(rate(answer).reset)).to.be.within(1, 60);
    }
  });

  it('come with 429 RATE_LIMIT_EXCEEDED and Retry-After beyond the limit, and nothing is written', async () => {
    const api = await start(2);
    const project = await api.project();
    for (let n = 0; n < 2; n++) await project.browser.post('/v1/track', event);
    for (let n = 0; n < 3; n++) {
      const answer = await project.browser.post('/v1/track', event);
      expect(answer).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      expect(rate(answer)).to.include({ limit: '2', remaining: '0' });
      expect(answer.headers.get('retry-after')).to.match(/^\d+$/);
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 60);
    }
    expect(await storedEvents(api.db, { projectId: project.id })).to.have.length(2);
  });

  it('count the calls of both keys for the public key, and not those of other projects', async () => {
    const api = await start(3);
    const project = await projectOf(api);
    const other = await projectOf(api);
    await project.browser.post('/v1/track', event);
    const send = await project.server.post('/v1/send', {});
    expect(send).to.have.status(422);
    expect(rate(send)).to.include({ limit: '3', remaining: '2' });
    expect(rate(await project.browser.post('/v1/track', event))).to.include({ limit: '3', remaining: '0' });
    expect(await project.browser.post('/v1/track', event)).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
    expect(rate(await other.browser.post('/v1/track', event)).remaining).to.equal('2');
  });

  it('reserve 0.2 N for the secret key under any public load, and a bucket for sessions', async () => {
    const api = await start(10);
    const project = await projectOf(api);
    const tracks = await Promise.all(Array.from({ length: 40 }, () => project.browser.post('/v1/track', event)));
    expect(tracks.filter(({ status }) => status === 200)).to.have.length(10);
    for (const remaining of ['1', '0']) {
      const answer = await project.server.get('/contacts');
      expect(answer).to.have.status(200);
      expect(rate(answer)).to.include({ limit: '12', remaining });
    }
    const refused = await project.server.get('/contacts');
    expect(refused).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
    expect(rate(refused)).to.include({ limit: '12', remaining: '0' });
    for (let n = 9; n >= 0; n--)
      expect(rate(await project.owner.get('/contacts'))).to.include({ limit: '10', remaining: String(n) });
    expect(await project.owner.get('/contacts')).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
  });

  it('count the calls of a user on routes of no project in a bucket of the user', async () => {
    const api = await start(4);
    const project = await api.project();
    const ann = await person(api);
    const bob = await person(api);
    const paths = ['/users/@me', '/users/@me/projects', '/users/@me/sessions', '/notifications'];
    for (const [n, path] of paths.entries()) {
      const answer = await ann.get(path);
      expect(answer, path).to.have.status(200);
      expect(rate(answer), path).to.include({ limit: '4', remaining: String(3 - n) });
    }
    for (const path of paths) {
      const refused = await ann.get(path);
      expect(refused, path).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      expect(refused.body.error.message).to.equal('More than 4 requests per minute by your sessions.');
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    }
    expect(rate(await bob.get('/users/@me')).remaining).to.equal('3');
    await promoteToOperator(api.db, bob.id);
    expect(rate(await bob.get('/operator/overview')).remaining).to.equal('2');
    expect(rate(await project.owner.get('/contacts')).remaining, 'of the project').to.equal('3');
    expect(rate(await project.owner.get('/users/@me')).remaining, 'of its owner').to.equal('3');
    expect(rate(await api.get('/users/@me')).limit, 'without a session').to.equal(null);
  });

  it('keep no bucket of a deleted user', async () => {
    const api = await start(5);
    const user = await person(api);
    const buckets = () => api.db('sessionRateWindows').where({ projectId: user.id });
    await user.get('/users/@me');
    expect(await buckets()).to.have.length(1);
    expect(await user.delete('/users/@me')).to.have.status(204);
    expect(await buckets()).to.deep.equal([]);
  });

  it('reject the secret key after N calls of its own', async () => {
    const project = await projectOf(await start(5));
    for (let n = 4; n >= 0; n--)
      expect(rate(await project.server.get('/contacts'))).to.include({ limit: '5', remaining: String(n) });
    const refused = await project.server.get('/contacts');
    expect(refused).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
    expect(rate(refused)).to.include({ limit: '5', remaining: '0' });
    expect(await project.browser.post('/v1/track', event)).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
  });

  it('are on every answer after authentication, errors included', async () => {
    const project = await (await start(100)).project();
    const answers: [ApiAnswer, number][] = [
      [await project.browser.post('/v1/track', '{'), 400],
      [await project.browser.post('/v1/track', {}), 422],
      [await project.browser.post('/v1/track', '{}', { 'content-type': 'text/plain' }), 415],
      [await project.browser.post('/v1/track', ' '.repeat(2_000_000)), 413],
      [
        await project.server.post('/v1/send', { to: 'a@b.co', from: 'x@unverified.example', subject: 's', body: 'b' }),
        403,
      ],
    ];
    for (const [answer, status] of answers) {
      expect(answer).to.have.status(status);
      expect(rate(answer).limit).to.equal('100');
    }
  });

  it('are missing when authentication fails, and nothing is counted', async () => {
    const api = await start(1);
    const project = await api.project();
    const refused = await api.post('/v1/track', event);
    expect(rate(refused)).to.deep.equal({ limit: null, remaining: null, reset: null });
    expect(await project.browser.post('/v1/send', event)).to.have.status(401);
    expect(await project.browser.post('/v1/track', event)).to.have.status(200);
  });

  it('are missing when the limit is 0, and every call passes', async () => {
    const project = await (await start(0)).project();
    for (let n = 0; n < 20; n++) {
      const answer = await project.browser.post('/v1/track', event);
      expect(answer).to.have.status(200);
      expect(rate(answer).limit).to.equal(null);
    }
  });

  it('let exactly the limit through two APIs, alternately and concurrently', async () => {
    const one = await start(120);
    const two = await start(120, one);
    const callers = (project: ApiProject) =>
      [one, two].map(({ url }) => client(url, { authorization: `Bearer ${project.publicKey}` }));

    const inTurns = callers(await projectOf(one));
    let passed = 0;
    for (let n = 0; n < 140; n++) if ((await inTurns[n % 2]?.post('/v1/track', event))?.status === 200) passed++;
    expect(passed).to.equal(120);

    const atOnce = callers(await projectOf(one));
    const answers = await Promise.all(Array.from({ length: 160 }, (_, n) => atOnce[n % 2]?.post('/v1/track', event)));
    const statuses = answers.map((answer) => answer?.status);
    expect(statuses.filter((status) => status === 200)).to.have.length(120);
    expect(statuses.filter((status) => status === 429)).to.have.length(40);
  });

  it('depend on the database: a request fails when the grant fails', async () => {
    const api = await start(10);
    const project = await api.project();
    const answer = await whileHidden(api.db, 'rate_windows', () => project.browser.post('/v1/track', event));
    expect(answer).to.be.envelope(500, 'INTERNAL_SERVER_ERROR');
    expect(await storedEvents(api.db, { projectId: project.id })).to.have.length(0);
    expect(await project.browser.post('/v1/track', event)).to.have.status(200);
  });

  it('let secret calls through two APIs while a flood of public calls continues', async () => {
    const one = await start(100);
    const two = await start(100, one);
    const project = await projectOf(one);
    const clientsWith = (key: string) => [one, two].map(({ url }) => client(url, { authorization: `Bearer ${key}` }));
    const browsers = clientsWith(project.publicKey);
    const servers = clientsWith(project.secretKey);
    const flood = Array.from({ length: 300 }, (_, n) => browsers[n % 2]?.post('/v1/track', event));
    const calls = Array.from({ length: 20 }, (_, n) => servers[n % 2]?.get('/contacts'));
    const statuses = (await Promise.all(calls)).map((answer) => answer?.status);
    expect(statuses).to.deep.equal(statuses.map(() => 200));
    const passed = (await Promise.all(flood)).filter((answer) => answer?.status === 200).length;
    expect(passed).to.be.within(80, 100);
  });

  describe('with PUBLIC_RATE_LIMIT_PER_IP_PER_MINUTE', () => {
    const perIp = { PUBLIC_RATE_LIMIT_PER_IP_PER_MINUTE: '2', TRUST_PROXY: 'true' };
    const from = (ip: string) => ({ 'x-forwarded-for': ip });

    it('reject public calls of an IP address after N, and no calls of others or of the secret key', async () => {
      const project = await (await start(100, undefined, perIp)).project();
      const track = (ip: string) => project.browser.post('/v1/track', event, from(ip));
      expect(rate(await track('203.0.113.1'))).to.include({ limit: '2', remaining: '1' });
      expect(rate(await track('203.0.113.1'))).to.include({ limit: '2', remaining: '0' });
      for (let n = 0; n < 50; n++) {
        const refused = await track('203.0.113.1');
        expect(refused).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
        expect(rate(refused)).to.include({ limit: '2', remaining: '0' });
        expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
      }
      expect(await track('203.0.113.2')).to.have.status(200);
      for (let n = 0; n < 5; n++)
        expect(await project.server.get('/contacts', from('203.0.113.1'))).to.have.status(200);
      const after = await project.server.get('/contacts');
      expect(rate(after), 'rejected calls do not count for the project').to.include({ limit: '100', remaining: '94' });
    });

    it('count an IPv6 /64 network as one address', async () => {
      const project = await (await start(100, undefined, perIp)).project();
      const track = (ip: string) => project.browser.post('/v1/track', event, from(ip));
      expect(await track('2001:db8:0:1::1')).to.have.status(200);
      expect(await track('2001:db8:0:1:ffff::2')).to.have.status(200);
      expect(await track('2001:0db8::1:0:0:0:3')).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
      expect(await track('2001:db8:0:2::1')).to.have.status(200);
    });

    it('ignore the forwarding header of an untrusted proxy', async () => {
      const project = await (await start(100, undefined, { ...perIp, TRUST_PROXY: 'false' })).project();
      const track = (ip: string) => project.browser.post('/v1/track', event, from(ip));
      expect(await track('203.0.113.1')).to.have.status(200);
      expect(await track('203.0.113.2')).to.have.status(200);
      expect(await track('203.0.113.3')).to.be.envelope(429, 'RATE_LIMIT_EXCEEDED');
    });

    it('are off with RATE_LIMIT_PER_MINUTE=0', async () => {
      const project = await (await start(0, undefined, perIp)).project();
      for (let n = 0; n < 5; n++) expect(await project.browser.post('/v1/track', event)).to.have.status(200);
    });
  });
});
