import { expect } from 'chai';
import { connectDb } from '../../db/connect.ts';
import { createReadiness } from '../../db/readiness.ts';
import { freePort } from '../../dev/ports.ts';
import { addSigningKey, makeDomainKey } from '../../services/domains/keys.ts';
import { checkSealedSecrets } from '../../services/operators/sealed-secrets.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { connectTestDatabase, makeProject } from '../support/connected-database.ts';
import { createEmptyDatabase, startOwnPostgres } from '../support/postgres.ts';
import { spawnApi, startApi } from '../support/processes.ts';
import { storedDomains } from '../support/rows/projects.ts';
import { eventually } from '../support/waiting.ts';

/** Asks again while the check of the database takes longer than it may. */
const readyOf = (api: TestApi) =>
  eventually(
    async () => {
      const answer = await api.get('/ready');
      return answer.body.parts.database === 'ok' && answer;
    },
    { what: 'a check of the database' },
  );

describe('GET /health and GET /ready', () => {
  it('answer ok when all dependencies are available', async () => {
    const api = await startTestApi();
    const health = await api.get('/health');
    const ready = await readyOf(api);
    await api.stop();
    expect(health).to.have.status(200);
    expect(health.body).to.deep.equal({ status: 'ok' });
    expect(ready).to.have.status(200);
    expect(ready.body).to.deep.equal({ status: 'ok', parts: { database: 'ok', migrations: 'ok', temporal: 'ok' } });
  });

  for (const [what, checkTemporal] of [
    ['is unavailable', async () => false],
    ['fails', async () => Promise.reject(new Error('no'))],
    ['never answers', () => new Promise<boolean>(() => {})],
  ] as const)
    it(`answer 200 degraded when Temporal ${what}, and requests are accepted`, async () => {
      const api = await startTestApi({ checkTemporal });
      const ready = await readyOf(api);
      const project = await api.project();
      const track = await project.browser.post('/v1/track', { email: 'a@b.co', event: 'x' });
      await api.stop();
      expect(ready).to.have.status(200);
      expect(ready.body.status).to.equal('degraded');
      expect(ready.body.parts).to.deep.equal({ database: 'ok', migrations: 'ok', temporal: 'degraded' });
      expect(track).to.have.status(200);
    });

  it('share one check of the database and of Temporal between concurrent calls, and repeat it after a second', async () => {
    const database = await connectTestDatabase();
    let queries = 0;
    database.db.on('query', () => queries++);
    let asked = 0;
    const ready = createReadiness(database.db, async () => ++asked > 0);
    const states = await Promise.all(Array.from({ length: 50 }, () => ready()));
    expect(asked).to.equal(1);
    const ofOneCheck = queries;
    await createReadiness(database.db, async () => true)();
    expect(ofOneCheck, 'the queries of a single check').to.equal(queries - ofOneCheck);
    expect(new Set(states).size).to.equal(1);
    await database.db('knex_migrations').delete();
    await eventually(async () => (await ready()).status === 'down', { what: 'a new check' });
    await database.close();
  });

  it('call a worker degraded that cannot open a stored secret', async () => {
    const database = await connectTestDatabase();
    const project = await makeProject(database.db);
    const [domain] = await storedDomains(database.db, { projectId: project.id });
    await addSigningKey(database.db, domain.id, await makeDomainKey(['the key that sealed']));
    const readyWith = (...keys: [string, ...string[]]) =>
      createReadiness(database.db, async () => true, {
        isPolling: () => true,
        opensSecrets: async () => (await checkSealedSecrets(database.db, keys)).unopened.length === 0,
      })();
    const parts = { database: 'ok', migrations: 'ok', temporal: 'ok', polling: 'ok' };
    // A check that takes longer than it may says nothing of the database or the secret.
    const degraded = await eventually(
      async () => {
        const state = await readyWith('quite another key');
        return state.status === 'degraded' && state;
      },
      { what: 'a degraded worker' },
    );
    expect(degraded).to.deep.equal({ status: 'degraded', parts: { ...parts, secrets: 'degraded' } });
    const ready = await eventually(
      async () => {
        const state = await readyWith('quite another key', 'the key that sealed');
        return state.status === 'ok' && state;
      },
      { what: 'a worker that is ready' },
    );
    expect(ready).to.deep.equal({ status: 'ok', parts: { ...parts, secrets: 'ok' } });
    await database.close();
  });

  it('answer 503 with a migration pending', async () => {
    const api = await startTestApi();
    await api.db('knex_migrations').delete();
    const ready = await readyOf(api);
    await api.stop();
    expect(ready).to.have.status(503);
    expect(ready.body.status).to.equal('down');
    expect(ready.body.parts).to.include({ database: 'ok', migrations: 'down' });
  });

  it('answer ok after a later version has migrated the database and replaced functions', async () => {
    const api = await startTestApi();
    await api.db('knex_migrations').insert({ name: '999-later', batch: 2, migrationTime: new Date() });
    await api.db('databaseFunctions').where({ name: 'write_contact' }).update({ checksum: 'newer' });
    const ready = await readyOf(api);
    await api.stop();
    expect(ready).to.have.status(200);
    expect(ready.body.parts).to.include({ database: 'ok', migrations: 'ok' });
  });

  it('answer 503 on /ready without the database, while /health is ok', async () => {
    const postgres = await startOwnPostgres();
    const db = connectDb({ databaseUrl: postgres.url, poolSize: 1 });
    const api = await startTestApi({ database: { db, url: postgres.url, close: async () => {} } });
    await postgres.stop();
    const health = await api.get('/health');
    const ready = await api.get('/ready');
    await api.stop();
    await db.destroy();
    expect(health).to.have.status(200);
    expect(ready).to.have.status(503);
    expect(ready.body.parts).to.include({ database: 'down' });
  });
});

describe('starting', () => {
  it('fails on pending migrations with the command to run', async () => {
    const { url, drop } = await createEmptyDatabase();
    const db = connectDb({ databaseUrl: url, poolSize: 1 });
    const error = await startTestApi({ database: { db, url, close: async () => {} } }).then(
      () => undefined,
      (reason: Error) => reason,
    );
    await db.destroy();
    await drop();
    expect(error?.message).to.contain('run npm run migrate').and.contain('001-baseline');
  });

  it('fails with one sentence when the password is wrong or the port is taken', async () => {
    const database = await connectTestDatabase(1);
    const url = new URL(database.url);
    url.password = 'wrong';
    const refused = await spawnApi({ DATABASE_URL: url.toString() });
    expect((await refused.exited).code).to.equal(1);
    expect(refused.logs()).to.match(/^Postgres refuses DATABASE_URL: password authentication failed/m);
    expect(refused.logs()).not.to.match(/"stack"|^ +at /m);
    const first = await startApi({ DATABASE_URL: database.url });
    const { port } = new URL(first.url);
    const second = await spawnApi({ DATABASE_URL: database.url, PORT: port });
    expect((await second.exited).code).to.equal(1);
    expect(second.logs()).to.include(`Port ${port} on 127.0.0.1 is in use by another program`);
    expect(second.logs()).not.to.match(/"stack"|^ +at /m);
    await first.stop();
    await database.close();
  });
});

describe('GET /metrics', () => {
  it('counts requests by route, method and status, and shows the pool', async () => {
    const api = await startTestApi();
    const project = await api.project();
    await project.browser.post('/v1/track', { email: 'a@b.co', event: 'x' });
    await project.browser.post('/v1/track', {});
    await api.get('/nowhere/at/all');
    const { status, headers, body } = await api.get('/metrics');
    await api.stop();
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.match(/^text\/plain/);
    expect(body).to.contain(
      'everpost_http_request_duration_seconds_count{method="POST",route="/v1/track",status="200"} 1',
    );
    expect(body).to.contain(
      'everpost_http_request_duration_seconds_count{method="POST",route="/v1/track",status="422"} 1',
    );
    expect(body).to.contain(
      'everpost_http_request_duration_seconds_count{method="GET",route="unknown",status="404"} 1',
    );
    expect(body).to.match(/everpost_db_pool_connections\{state="waiting"\} 0/);
    expect(body).to.contain('process_cpu_seconds_total').and.not.contain('nowhere');
  });

  it('answers 404 on the port of the API in production and is not in the OpenAPI document', async () => {
    const env = { NODE_ENV: 'production', SECRET_KEY: 'k'.repeat(32) };
    const api = await startTestApi({ env });
    const metrics = await api.get('/metrics');
    const document = await api.get('/openapi.json');
    await api.stop();
    expect(metrics).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    expect(document.body.paths).not.to.have.property('/metrics');
  });

  it('is served on METRICS_PORT only when that is set', async () => {
    const port = await freePort();
    const api = await startTestApi({ env: { METRICS_PORT: String(port) } });
    const here = await api.get('/metrics');
    const there = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await there.text();
    const other = await fetch(`http://127.0.0.1:${port}/health`);
    await other.text();
    await api.stop();
    for (const { headers } of [there, other]) {
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy')).to.contain("default-src 'none'");
    }
    expect(here).to.be.envelope(404, 'RESOURCE_NOT_FOUND');
    expect(there.status).to.equal(200);
    expect(text).to.contain('everpost_http_request_duration_seconds');
    expect(other.status).to.equal(404);
  });
});
