import { expect } from 'chai';
import { ok } from '../../api/http/answers.ts';
import { route, routes } from '../../api/http/route.ts';
import { connectDb, type Db, inTransaction } from '../../db/connect.ts';
import {
  type ApiAnswer,
  type ApiProject,
  createProjectWithClients,
  startTestApi,
  type TestApi,
} from '../support/api.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { startOwnPostgres } from '../support/postgres.ts';
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts';
import { storedEvents } from '../support/rows/events.ts';
import { storedMails } from '../support/rows/mails.ts';
import { eventually } from '../support/waiting.ts';

const CALLS = 12;

describe('a connection that breaks between commit and answer', () => {
  let database: ConnectedDatabase;
  let proxy: PostgresProxy;
  let api: TestApi;
  let project: ApiProject;

  beforeEach(async () => {
    database = await connectTestDatabase();
    proxy = await startPostgresProxy(database.url);
    api = await startTestApi({ env: { RATE_LIMIT_PER_MINUTE: '0' }, database: { ...database, url: proxy.url } });
    project = await createProjectWithClients(database.db, api.url);
  });
  afterEach(async () => {
    await api.stop();
    await proxy.close();
    await database.close();
  });

  const track = (n: number, key?: string) =>
    project.browser.post(
      '/v1/track',
      { email: `c${n}@example.com`, event: 'bought' },
      key ? { 'idempotency-key': `${key}${n}` } : {},
    );
  const send = (n: number, key?: string) =>
    project.server.post(
      '/v1/send',
      { to: `c${n}@example.com`, from: `shop@${project.senderDomain}`, subject: 'Hello', body: '<p>Hello</p>' },
      key ? { 'idempotency-key': `${key}${n}` } : {},
    );
  const tracked = async () => (await storedEvents(database.db, { projectId: project.id, name: 'bought' })).length;
  const idOf = ({ body }: ApiAnswer) => body.data.event ?? body.data.emails[0].email;
  const running = async () =>
    (await database.db('pg_stat_activity').where({ application_name: 'everpost-api', state: 'active' })).length;
  const sent = async () => (await storedMails(database.db, { projectId: project.id })).length;

  const atOnce = (call: (n: number) => Promise<ApiAnswer>) =>
    Promise.all(Array.from({ length: CALLS }, (_, n) => call(n)));

  for (const [what, call, count] of [
    ['track', track, tracked],
    ['send', send, sent],
  ] as const) {
    it(`answers 200 to ${CALLS} concurrent ${what} calls that were committed, and writes each once`, async () => {
      expect(await call(100)).to.have.status(200);
      proxy.breakOn(`\0${what}\0`, 'answered');
      const answers = await atOnce(call);
      expect(proxy.broken()).to.be.greaterThan(0);
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(CALLS).fill(200));
      expect(await count()).to.equal(CALLS + 1);
      expect(new Set(answers.map(idOf)).size).to.equal(CALLS);
    });

    it(`answers 200 to ${what} calls with an Idempotency-Key whose COMMIT is not answered, and writes each once`, async () => {
      expect(await call(100, 'key')).to.have.status(200);
      proxy.breakOn('COMMIT', 'answered');
      const answers = await atOnce((n) => call(n, 'key'));
      expect(proxy.broken()).to.equal(CALLS);
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(CALLS).fill(200));
      expect(await count()).to.equal(CALLS + 1);
    });

    it(`answers 503 to ${what} calls whose outcome cannot be determined, and writes none of them again`, async () => {
      expect(await call(100)).to.have.status(200);
      const lock = await database.db.transaction();
      await lock('contacts').where({ projectId: project.id }).forUpdate();
      proxy.breakOn(`\0${what}\0`, 'sent');
      const answers = await atOnce(() => call(100));
      await lock.rollback();
      for (const answer of answers) {
        expect(answer).to.be.envelope(503, 'INTERNAL_SERVER_ERROR');
        expect(answer.body.error.message).to.contain('may or may not have taken effect');
        expect(answer.body.error.suggestion).to.contain('Idempotency-Key');
        expect(answer.headers.get('retry-after')).to.equal('2');
      }
      await eventually(async () => (await running()) === 0, { what: 'the end of the statements' });
      expect(await count()).to.be.at.most(CALLS + 1);
    });
  }

  it('answers 503 to a GET, without mentioning an unknown outcome', async () => {
    expect(await project.server.get('/contacts')).to.have.status(200);
    proxy.breakOn('contacts', 'sent');
    const answer = await project.server.get('/contacts');
    expect(answer).to.be.envelope(503, 'INTERNAL_SERVER_ERROR');
    expect(answer.body.error.message).to.contain('database is currently unreachable');
  });
});

describe('a Postgres that restarts under load', () => {
  it('answers 2xx, 4xx or 503 on every route, never 500', async () => {
    const postgres = await startOwnPostgres();
    const db = connectDb({ databaseUrl: postgres.url, poolSize: 2 });
    const api = await startTestApi({
      env: { RATE_LIMIT_PER_MINUTE: '1000000' },
      database: { db, url: postgres.url, close: async () => {} },
    });
    try {
      const project = await api.project();
      const answers: { call: string; status: number; body: unknown }[] = [];
      let isOver = false;
      const loads = callsOf(project).map(async ([call, ask], n) => {
        for (let round = 0; !isOver; round++) {
          const { status, body } = await ask(`${n}-${round}`);
          answers.push({ call, status, body });
        }
      });
      const refused = (seen: number) =>
        eventually(() => answers.slice(seen).filter(({ status }) => status === 503).length > 30, { what: 'refusals' });
      const allWork = (seen: number) =>
        eventually(
          () => {
            const working = answers.slice(seen).filter(({ status }) => status < 300);
            return callsOf(project).every(([name]) => working.some(({ call }) => call === name));
          },
          { what: 'an answer to every call' },
        );
      await allWork(0);
      for (const way of ['stop', 'kill'] as const) {
        await postgres[way]();
        await refused(answers.length);
        await postgres.start();
        await allWork(answers.length);
      }
      isOver = true;
      await Promise.all(loads);
      const wrong = answers.filter(({ status }) => status >= 500 && status !== 503);
      const logged = api.logs.filter(({ msg }) => msg === 'unexpected error').map(({ err, route }) => ({ err, route }));
      expect(wrong, JSON.stringify(logged.slice(0, 5))).to.deep.equal([]);
    } finally {
      await api.stop();
      await db.destroy();
      await postgres.stop();
    }
  });
});

type NamedCall = [name: string, ask: (unique: string) => Promise<ApiAnswer>];

const callsOf = ({ browser, server, owner, id, senderDomain }: ApiProject): NamedCall[] => [
  ['track', (n) => browser.post('/v1/track', { email: `t${n}@example.com`, event: 'x' })],
  ['keyed track', (n) => browser.post('/v1/track', { email: 'k@example.com', event: 'x' }, { 'idempotency-key': n })],
  [
    'send',
    (n) => server.post('/v1/send', { to: `s${n}@example.com`, from: `a@${senderDomain}`, subject: 's', body: 'b' }),
  ],
  ['save contact', (n) => server.post('/contacts', { email: `c${n}@example.com`, data: { n } })],
  ['list contacts', () => server.get('/contacts')],
  ['fields', () => server.get('/contacts/fields')],
  ['export', () => server.get('/contacts/export').catch(cutDownload)],
  ['create template', (n) => server.post('/templates', template(n, senderDomain))],
  ['list templates', () => server.get('/templates')],
  ['list segments', () => server.get('/segments')],
  ['create segment', (n) => server.post('/segments', { name: `S${n}`, type: 'STATIC' })],
  ['list workflows', () => server.get('/workflows')],
  ['list campaigns', () => server.get('/campaigns')],
  ['list domains', () => server.get(`/domains/project/${id}`)],
  ['events', () => server.get('/events')],
  ['activity', () => server.get('/activity')],
  ['me', () => owner.get('/users/@me')],
  ['members', () => owner.get(`/projects/${id}/members`)],
];

const template = (n: string, domain: string) => ({
  name: `T${n}`,
  subject: 's',
  body: '<p>b</p>',
  from: `a@${domain}`,
  type: 'TRANSACTIONAL',
});

describe('a Postgres that stops answering on open connections', () => {
  it('makes the API replace its connections after a timeout and answer 200 again', async () => {
    const database = await connectTestDatabase();
    const proxy = await startPostgresProxy(database.url);
    const api = await startTestApi({
      env: { DATABASE_STATEMENT_TIMEOUT_MS: '3000', RATE_LIMIT_PER_MINUTE: '1000000' },
      database: { ...database, url: proxy.url },
    });
    try {
      const project = await createProjectWithClients(database.db, api.url);
      const track = (n: number) => project.browser.post('/v1/track', { email: `c${n}@example.com`, event: 'x' });
      const list = () => project.server.get('/contacts');
      const both = async () => (await Promise.all([track(1), list(), list(), list()])).map(({ status }) => status);
      const bothWork = () =>
        eventually(async () => (await both()).every((status) => status === 200), { what: 'answers to all calls' });
      await bothWork();
      proxy.silence();
      for (const status of await both()) expect(status).to.be.oneOf([200, 503]);
      await bothWork();
      await eventually(async () => (await api.get('/ready')).status === 200);
    } finally {
      await api.stop();
      await proxy.close();
      await database.close();
    }
  });
});

describe('statement_timeout', () => {
  /** Long enough that no other statement of a busy machine takes as long. */
  const LIMIT_MS = 3_000;
  const slow = (db: Db) => db.raw('select pg_sleep(?)', [LIMIT_MS / 1_000 + 0.5]);
  let api: TestApi;

  before(async () => {
    const shared = {
      method: 'GET',
      access: 'public',
      summary: 'slow',
      answers: { 200: { description: 'ok' } },
    } as const;
    const moreRoutes = [
      routes('Test', [
        route({ ...shared, path: '/test/slow', handle: async ({ db }) => ok((await slow(db)).rowCount) }),
        route({
          ...shared,
          path: '/test/declared',
          statementTimeoutMs: 120_000,
          handle: async ({ db }) => ok((await inTransaction(db, slow)).rowCount),
        }),
      ]),
    ];
    api = await startTestApi({ env: { DATABASE_STATEMENT_TIMEOUT_MS: String(LIMIT_MS) }, moreRoutes });
  });
  after(() => api.stop());

  it('answers 503 with a suggestion when a statement of the API takes longer than the setting', async () => {
    const answer = await api.get('/test/slow');
    expect(answer).to.be.envelope(503, 'INTERNAL_SERVER_ERROR');
    expect(answer.body.error.message).to.contain('query took too long');
    expect(answer.body.error.suggestion).to.be.a('string');
  });

  it('is longer in the transactions of a route that declares it', async () => {
    expect(await api.get('/test/declared')).to.have.status(200);
  });
});

/** A download whose status is sent already can only be cut, so that the client sees that it is incomplete. */
function cutDownload(error: unknown): ApiAnswer {
  if (!(error instanceof TypeError) || error.message !== 'terminated') throw error;
  return { status: 503, headers: new Headers(), body: '' };
}
