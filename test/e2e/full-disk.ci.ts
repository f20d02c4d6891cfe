import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Child, startChild, waitUntilReady } from '../../dev/child.ts';
import { freePort } from '../../dev/ports.ts';
import { compiledProgram } from '../../dev/program.ts';
import { root } from '../../dev/root.ts';
import { type ApiProject, createProjectWithClients, startTestApi, type TestApi } from '../support/api.ts';
import { atEnd, runDirectory } from '../support/cleanup.ts';
import { type ConnectedDatabase, connectTestDatabase } from '../support/connected-database.ts';
import { withoutSettings } from '../support/processes.ts';
import { eventually } from '../support/waiting.ts';

describe('an API on a full disk', () => {
  let database: ConnectedDatabase;
  let api: Child;
  let url: string;
  let project: ApiProject;

  before(async () => {
    database = await connectTestDatabase(2);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    api = await startChild({
      name: 'api',
      // No file may be longer than 16 blocks of 512 or 1,024 bytes, which depends on the shell.
      command: 'sh',
      args: ['-c', 'ulimit -f 16 && exec "$0" "$@"', process.execPath, join(await compiledProgram(), 'api/server.js')],
      cwd: root,
      env: {
        ...withoutSettings(process.env),
        NODE_ENV: 'test',
        HOST: '127.0.0.1',
        PORT: String(port),
        BASE_URL: url,
        LOG_LEVEL: 'debug',
        DATABASE_URL: database.url,
        TEMPORAL_ADDRESS: '127.0.0.1:1',
      },
      logFile: join(runDirectory(), `api-${randomUUID()}.log`),
    });
    atEnd(async () => void (await api.kill()));
    await waitUntilReady(api, 180_000, async () => (await fetch(`${url}/health`)).ok);
    project = await createProjectWithClients(database.db, url);
  });
  after(async () => {
    await api.kill();
    await database.close();
  });

  const upload = async (rows: number): Promise<Response> => {
    const form = new FormData();
    const lines = Array.from({ length: rows }, (_, n) => `contact${n}@example.com`);
    form.append('file', new Blob([`email\n${lines.join('\n')}\n`], { type: 'text/csv' }), 'contacts.csv');
    const headers = { authorization: `Bearer ${project.secretKey}` };
    return fetch(`${url}/contacts/import`, { method: 'POST', headers, body: form });
  };

  it('refuses a file that it cannot store to its end', async () => {
    const refused = await upload(2_000);
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.equal('30');
    expect(await refused.text()).to.include('out of disk space');
    expect(await database.db('jobs').where({ projectId: project.id })).to.deep.equal([]);
    expect((await upload(10)).status).to.equal(202);
  });

  it('goes on without its log', async () => {
    for (let n = 0; n < 200; n++) expect(await project.server.get('/contacts/none')).to.have.status(404);
    expect(statSync(api.logFile).size, 'the log has reached the limit').to.be.oneOf([8_192, 16_384]);
    expect(api.hasExited()).to.equal(false);
  });
});

describe('an API whose database has a full disk', () => {
  let api: TestApi;
  let project: ApiProject;

  before(async () => {
    api = await startTestApi();
    project = await api.project();
  });
  after(() => api.stop());

  /** As Postgres does when a table needs another page. */
  const fillDisk = (error = `'could not extend file "base/1/2": No space left on device' using errcode = '53100'`) =>
    api.db.raw(`
      create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception ${error}; end $$;
      create trigger full_disk before insert on contacts execute function refuse()`);
  const freeSpace = () => api.db.raw('drop trigger if exists full_disk on contacts');
  afterEach(freeSpace);
  const writes = () => [
    project.browser.post('/v1/track', { email: `${randomUUID()}@example.com`, event: 'bought' }),
    project.server.post('/contacts', { email: `${randomUUID()}@example.com` }),
  ];

  it('answers 503 and names the disk, also on /ready, until there is space again', async () => {
    await fillDisk();
    for (const answer of await Promise.all(writes())) {
      expect(answer).to.be.envelope(503, 'INTERNAL_SERVER_ERROR');
      expect(answer.body.error.message).to.include("The database's disk is full");
      expect(answer.headers.get('retry-after')).to.match(/^\d+$/);
    }
    expect(await project.server.get('/contacts'), 'reading').to.have.status(200);
    const ready = await eventually(
      async () => {
        // It forgets a full disk soon after the last failure.
        await Promise.all(writes());
        const answer = await api.get('/ready');
        return answer.body.status === 'degraded' && answer;
      },
      { what: '/ready to notice' },
    );
    expect(ready).to.have.status(200);
    expect(ready.body.parts).to.include({ database: 'degraded' });
    expect(ready.body.reason).to.equal("The database's disk is full.");
    await freeSpace();
    for (const answer of await Promise.all(writes())) expect(answer.status).to.be.oneOf([200, 201]);
    await eventually(async () => (await api.get('/ready')).body.status === 'ok', { what: '/ready to recover' });
  });

  it('answers 503 when a quota is exceeded', async () => {
    await fillDisk(`'could not extend file "base/1/2": Disk quota exceeded' using errcode = 'XX000'`);
    for (const answer of await Promise.all(writes())) {
      expect(answer).to.be.envelope(503, 'INTERNAL_SERVER_ERROR');
      expect(answer.body.error.message).to.include("The database's disk is full");
    }
  });
});

describe('npm start on a full disk', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(runDirectory(), 'disk-'));
  });

  /** Returns what a start prints that has 7 MB for the folder. */
  const start = (program: string, env: NodeJS.ProcessEnv): { status: number | null; output: string } => {
    const NODE_OPTIONS = `--require ${join(root, 'test/support/small-disk.cjs')}`;
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'dev/start.ts', '--no-sample'], {
      env: { ...withoutSettings(process.env), ...env, NODE_OPTIONS, SMALL_DISK: folder, PORT: '0', WORKER_PORT: '0' },
      encoding: 'utf8',
      timeout: 240_000,
    });
    return { status, output: stdout + stderr };
  };
  const bootstrap = join(root, 'dev/bootstrap.mjs');

  it('names the disk of the data, what is free and what a first start needs', () => {
    const home = join(folder, 'home');
    const { status, output } = start(bootstrap, { EVERPOST_HOME: home });
    expect(output).to.include(`The disk of ${home} is full: 7 MB are free, and 500 MB are needed.`);
    expect(status).to.equal(1);
    expect(existsSync(home), 'nothing was written').to.equal(false);
  });

  it('names the disk of the data at a later start, which needs less', () => {
    mkdirSync(join(folder, 'postgres'));
    const { status, output } = start(bootstrap, { EVERPOST_HOME: folder });
    expect(output).to.include(`The disk of ${folder} is full: 7 MB are free, and 20 MB are needed.`);
    expect(status).to.equal(1);
  });

  it('names the disk of the cache, where Temporal is kept', () => {
    const cache = join(folder, 'cache');
    const home = mkdtempSync(join(runDirectory(), 'home-'));
    const { status, output } = start(bootstrap, { EVERPOST_HOME: home, XDG_CACHE_HOME: cache });
    expect(output).to.include(`The disk of ${join(cache, 'everpost')} is full: 7 MB are free`);
    expect(status).to.equal(1);
  });

  it('names the disk of the checkout before it installs packages', () => {
    for (const file of ['dev/bootstrap.mjs', 'package-lock.json']) cpSync(join(root, file), join(folder, file));
    const { status, output } = start(join(folder, 'dev/bootstrap.mjs'), {});
    expect(output).to.include(`The disk of ${folder} is full: 7 MB are free, and the packages need 1000 MB.`);
    expect(output).not.to.include('npm');
    expect(status).to.equal(1);
  });
});
