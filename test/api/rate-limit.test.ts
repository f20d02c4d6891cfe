import { expect } from 'chai';
import { type ApiAnswer, type ApiProject, client, startTestApi, type TestApi } from '../support/api.ts';

const event = { email: 'ann@example.com', event: 'x' };
const rate = ({ headers }: ApiAnswer) => ({
  limit: headers.get('ratelimit-limit'),
  remaining: headers.get('ratelimit-remaining'),
  reset: headers.get('ratelimit-reset'),
});

describe('RateLimit-*', () => {
  const running: TestApi[] = [];
  afterEach(async () => {
    for (let api = running.pop(); api; api = running.pop()) await api.stop();
  });

  async function start(limit: number, beside?: TestApi): Promise<TestApi> {
    const world = beside && { db: beside.db, url: beside.databaseUrl, close: async () => {} };
    const api = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: String(limit) }, ...(world && { world }) });
    running.push(api);
    return api;
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

  it('are 429 RATE_LIMIT_EXCEEDED with Retry-After beyond it, and nothing is written', async () => {
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
    expect(await api.db('events').where({ project_id: project.id }).pluck('id')).to.have.length(2);
  });

  it('are shared by both keys of a project and by its sessions, and not by projects', async () => {
    const api = await start(3);
    const [project, other] = [await api.project(), await api.project()];
    await project.browser.post('/v1/track', event);
    const second = await project.server.post('/v1/send', {});
    expect(second).to.have.status(422);
    expect(rate(second).remaining).to.equal('1');
    expect(rate(await other.browser.post('/v1/track', event)).remaining).to.equal('2');
  });

  it('are on every answer after authentication, whatever it is', async () => {
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

  it('are not there when nobody was let in, and nothing is counted', async () => {
    const api = await start(1);
    const project = await api.project();
    const refused = await api.post('/v1/track', event);
    expect(rate(refused)).to.deep.equal({ limit: null, remaining: null, reset: null });
    expect(await project.browser.post('/v1/send', event)).to.have.status(401);
    expect(await project.browser.post('/v1/track', event)).to.have.status(200);
  });

  it('are not there when the limit is 0, and everything passes', async () => {
    const project = await (await start(0)).project();
    for (let n = 0; n < 20; n++) {
      const answer = await project.browser.post('/v1/track', event);
      expect(answer).to.have.status(200);
      expect(rate(answer).limit).to.equal(null);
    }
  });

  it('let exactly the limit through two APIs, in turns and all at once', async () => {
    const one = await start(120);
    const two = await start(120, one);
    const callers = (project: ApiProject) =>
      [one, two].map(({ url }) => client(url, { authorization: `Bearer ${project.publicKey}` }));

    const inTurns = callers(await one.project());
    let passed = 0;
    for (let n = 0; n < 140; n++) if ((await inTurns[n % 2]?.post('/v1/track', event))?.status === 200) passed++;
    expect(passed).to.equal(120);

    const atOnce = callers(await one.project());
    const answers = await Promise.all(Array.from({ length: 160 }, (_, n) => atOnce[n % 2]?.post('/v1/track', event)));
    const statuses = answers.map((answer) => answer?.status);
    expect(statuses.filter((status) => status === 200)).to.have.length(120);
    expect(statuses.filter((status) => status === 429)).to.have.length(40);
  });

  it('are asked of the database: when that fails, so does the request, and nothing passes', async () => {
    const api = await start(10);
    const project = await api.project();
    await api.db.raw('alter table rate_windows rename to rate_windows_away');
    const answer = await project.browser.post('/v1/track', event);
    await api.db.raw('alter table rate_windows_away rename to rate_windows');
    expect(answer).to.be.envelope(500, 'INTERNAL_SERVER_ERROR');
    expect(await api.db('events').where({ project_id: project.id }).pluck('id')).to.have.length(0);
    expect(await project.browser.post('/v1/track', event)).to.have.status(200);
  });
});
