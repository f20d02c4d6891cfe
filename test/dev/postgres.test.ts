import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../dev/ports.ts';
import { type Postgres, query, startPostgres } from '../../dev/postgres.ts';
import { identityOf, isRunning } from '../../dev/process-identity.ts';

const quick = { fsync: 'off', max_connections: '20' };

describe('the embedded Postgres', () => {
  let dir: string;
  let dataDir: string;
  let port: number;
  let started: Postgres[];

  const start = async (): Promise<Postgres> => {
    const postgres = await startPostgres({
      dataDir,
      port,
      database: 'everpost',
      settings: quick,
      logFile: join(dir, 'log'),
    });
    started.push(postgres);
    return postgres;
  };

  const useDirectory = (parent: string, mode: number) => {
    dir = mkdtempSync(join(parent, 'everpost-postgres-'));
    chmodSync(dir, mode);
    dataDir = join(dir, 'data');
  };

  beforeEach(async () => {
    started = [];
    port = await freePort();
    useDirectory(tmpdir(), 0o755);
  });

  afterEach(async () => {
    for (const postgres of started) await postgres.kill();
    rmSync(dir, { recursive: true, force: true });
  });

  it('creates its data directory and a UTF-8 database with a password that only the owner can read', async () => {
    const { url } = await start();
    const { rows } = await query(
      url,
      `select current_database() as name, lower('ÄÖ') as lower, pg_encoding_to_char(encoding) as encoding
      from pg_database where datname = current_database()`,
    );
    expect(rows).to.deep.equal([{ name: 'everpost', lower: 'äö', encoding: 'UTF8' }]);
    expect(statSync(`${dataDir}.password`).mode & 0o777).to.equal(0o600);
    const wrongPassword = new URL(url);
    wrongPassword.password = 'guess';
    const error = await query(wrongPassword.href, 'select 1').catch((reason: Error) => reason);
    expect(error).to.be.an('error').with.property('message').that.contains('password authentication failed');
    if (process.getuid?.() === 0) expect(statSync(dataDir).uid).to.not.equal(0);
  });

  it('keeps its data over a restart on another port', async () => {
    const first = await start();
    await query(first.url, 'create table kept (n int); insert into kept values (7)');
    await first.stop();
    expect(first.child.hasExited()).to.equal(true);
    port = await freePort();
    const second = await start();
    expect((await query(second.url, 'select n from kept')).rows).to.deep.equal([{ n: 7 }]);
  });

  it('starts right after a SIGKILL, while sessions of the killed server still run', async () => {
    const first = await start();
    await query(first.url, 'create table kept (n int); insert into kept values (7)');
    const busy = query(first.url, 'select pg_sleep(60)').catch(() => 'cut off');
    await query(first.url, 'select 1');
    await first.kill();
    const second = await start();
    expect((await query(second.url, 'select n from kept')).rows).to.deep.equal([{ n: 7 }]);
    expect(await busy).to.equal('cut off');
  });

  it('stops the postmaster that a killed stack left behind', async () => {
    const orphan = await start();
    const identity = identityOf(orphan.pid);
    port = await freePort();
    const next = await start();
    expect(identity && isRunning(identity)).to.equal(false);
    expect(next.pid).to.not.equal(orphan.pid);
    expect(readFileSync(orphan.child.logFile, 'utf8')).to.contain('received fast shutdown request');
  });

  it('does not touch another process whose pid is in a stale pid file', async () => {
    const first = await start();
    const pidFile = join(dataDir, 'postmaster.pid');
    const lines = readFileSync(pidFile, 'utf8').split('\n');
    await first.stop();
    const other = spawn('sleep', ['60']);
    try {
      writeFileSync(pidFile, [String(other.pid), ...lines.slice(1)].join('\n'));
      await start();
      expect(other.exitCode ?? other.signalCode).to.equal(null);
    } finally {
      other.kill('SIGKILL');
    }
  });

  it('initializes again when an earlier initialization was interrupted', async () => {
    mkdirSync(join(dir, '.data.init-half', 'data'), { recursive: true });
    writeFileSync(join(dir, '.data.init-half', 'data', 'PG_VERSION'), '18');
    const { url } = await start();
    expect((await query(url, 'select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    expect(readdirSync(dir).sort()).to.deep.equal(['data', 'data.password', 'log']);
  });

  it('changes the owner of its files when its account can no longer enter the directory', async () => {
    await (await start()).stop();
    chmodSync(dir, 0o700);
    const { url } = await start();
    expect((await query(url, 'select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
  });

  it('fails with the message of Postgres when it cannot start', async () => {
    const failing = startPostgres({ dataDir, port, settings: { shared_buffers: 'plenty' }, logFile: join(dir, 'log') });
    const error = await failing.catch((reason: Error) => reason);
    expect(error).to.be.an('error').with.property('message').that.contains('shared_buffers');
  });

  it('runs in a directory that only its owner may enter', async () => {
    rmSync(dir, { recursive: true });
    useDirectory(tmpdir(), 0o700);
    const { url } = await start();
    expect((await query(url, 'select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
  });
});
