import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { connectDb } from '../../db/connect.ts';
import { startChild } from '../../dev/child.ts';
import { identityOf, isRunning } from '../../dev/process-identity.ts';
import { banner, type StackInfo } from '../../dev/stack/banner.ts';
import { demoCredentials } from '../../dev/stack/demo.ts';
import { AlreadyRunning, Home } from '../../dev/stack/home.ts';
import { recordProcess, stopOrphans } from '../../dev/stack/orphans.ts';
import { ProcessGroup } from '../../dev/stack/process-group.ts';
import { findByKey, regenerateKeys } from '../../services/access/keys.ts';
import { createDatabase } from '../support/postgres.ts';

const silent = () => {};

describe('the one-command stack', () => {
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'everpost-stack-'));
  });

  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  describe('its home', () => {
    it('is locked by one stack at a time, and the error names its pid', () => {
      const home = new Home(join(dir, 'home'));
      const lock = home.lock();
      expect(() => home.lock()).to.throw(AlreadyRunning, `pid ${process.pid}`);
      lock.release();
      home.lock().release();
    });

    it('deletes only our own files with --fresh', () => {
      const home = new Home(dir);
      mkdirSync(join(dir, 'postgres/base'), { recursive: true });
      for (const name of ['credentials.json', 'novel.txt', 'postgres.password']) writeFileSync(join(dir, name), '');
      home.makeFresh();
      expect(readdirSync(dir)).to.deep.equal(['novel.txt']);
    });

    it('keeps the log of the previous start', () => {
      const home = new Home(dir);
      writeFileSync(home.logFile('api'), 'first');
      writeFileSync(home.logFile('api'), 'second');
      expect(readFileSync(join(dir, 'logs/api.log.old'), 'utf8')).to.equal('first');
      expect(statSync(join(dir, 'logs')).mode & 0o077).to.equal(0);
    });
  });

  describe('its children', () => {
    /** Appends its name to the file `ended` when it gets a signal; a stubborn one ignores signals. */
    const child = async (
      processGroup: ProcessGroup,
      part: 'api' | 'worker' | 'temporal' | 'postgres',
      stubborn = false,
    ) => {
      const last = `require('fs').appendFileSync('${join(dir, 'ended')}', '${part} ')`;
      const script = `for (const s of ['SIGTERM', 'SIGINT']) process.on(s, () => { ${stubborn ? '' : `${last}; process.exit(0)`} });
        console.log('ready'); setInterval(() => {}, 1000)`;
      const logFile = join(dir, `${part}.log`);
      const started = await startChild({ name: part, command: process.execPath, args: ['-e', script], logFile });
      processGroup.add(part, started);
      processGroup.watch(part);
      while (!started.lastLines().includes('ready')) await new Promise((resolve) => setTimeout(resolve, 20));
      return started;
    };

    it('stop in order: a part after those that use it', async () => {
      const processGroup = new ProcessGroup(dir);
      for (const part of ['postgres', 'temporal', 'worker'] as const) await child(processGroup, part);
      await processGroup.stop();
      expect(readFileSync(join(dir, 'ended'), 'utf8')).to.equal('worker temporal postgres ');
      expect(readdirSync(dir).filter((name) => name.endsWith('.json'))).to.deep.equal([]);
    });

    it('report an unexpected exit, with the last lines of the log', async () => {
      const processGroup = new ProcessGroup(dir);
      const api = await child(processGroup, 'api');
      process.kill(api.pid, 'SIGKILL');
      expect(await processGroup.unexpectedExit)
        .to.contain('api has died (killed by SIGKILL)')
        .and.to.contain('ready');
      await processGroup.stop();
    });

    it('are killed at an immediate shutdown when they ignore signals', async () => {
      const processGroup = new ProcessGroup(dir);
      const worker = await child(processGroup, 'worker', true);
      const cleanShutdown = processGroup.stop();
      await processGroup.stop(true);
      await cleanShutdown;
      expect((await worker.exited).signal).to.equal('SIGKILL');
    });

    it('are killed when they start during the shutdown', async () => {
      const processGroup = new ProcessGroup(dir);
      await processGroup.stop();
      const late = await startChild({ name: 'late', command: 'sleep', args: ['60'], logFile: join(dir, 'late.log') });
      processGroup.add('api', late);
      expect((await late.exited).signal).to.equal('SIGKILL');
    });
  });

  describe('orphans of a killed stack', () => {
    const orphans: ChildProcess[] = [];
    const startOrphan = (): { pid: number; exited: Promise<unknown> } => {
      const orphan = spawn('sleep', ['60'], { detached: true });
      orphans.push(orphan);
      return { pid: orphan.pid ?? 0, exited: once(orphan, 'exit') };
    };

    afterEach(() => {
      for (const one of orphans.splice(0)) one.kill('SIGKILL');
    });

    it('are stopped before the next start', async () => {
      const api = startOrphan();
      const temporal = startOrphan();
      recordProcess(dir, 'api', api.pid);
      recordProcess(dir, 'temporal', temporal.pid);
      const reported: string[] = [];
      await Promise.all([stopOrphans(dir, (line) => reported.push(line)), api.exited, temporal.exited]);
      expect(reported.join('\n')).to.contain(`api (pid ${api.pid})`).and.to.contain(`temporal (pid ${temporal.pid})`);
      expect(readdirSync(dir)).to.deep.equal([]);
    });

    it('are not stopped when the pid was reused by another process', async () => {
      const other = startOrphan();
      writeFileSync(join(dir, 'api.json'), JSON.stringify({ pid: other.pid, startedAt: 'long ago' }));
      await stopOrphans(dir, silent);
      const identity = identityOf(other.pid);
      expect(identity && isRunning(identity)).to.equal(true);
      expect(existsSync(join(dir, 'api.json'))).to.equal(false);
    });
  });

  describe('its demo project', () => {
    it('is created once and reused, and only the owner can read its secrets', async () => {
      const { url, drop } = await createDatabase();
      const db = connectDb({ databaseUrl: url, poolSize: 2 });
      const file = join(dir, 'credentials.json');
      const reported: string[] = [];
      const options = { file, shared: false, report: (line: string) => reported.push(line) };
      try {
        const first = await demoCredentials(db, options);
        expect(first).to.deep.include({ senderDomain: 'demo.localhost' });
        expect((await findByKey(db, first.secretKey))?.projectId).to.equal(first.projectId);
        expect(statSync(file).mode & 0o777).to.equal(0o600);
        expect(await demoCredentials(db, options)).to.deep.equal(first);
        expect(reported).to.deep.equal([]);

        rmSync(file);
        const renewed = await demoCredentials(db, options);
        expect(renewed.projectId).to.equal(first.projectId);
        expect(await findByKey(db, first.secretKey)).to.equal(undefined);
        expect((await findByKey(db, renewed.secretKey))?.projectId).to.equal(first.projectId);
        expect(reported.join()).to.contain('new keys and a new password');

        const other = await demoCredentials(db, { ...options, file: join(dir, 'other.json'), shared: true });
        expect(other.projectId).to.not.equal(first.projectId);
        expect((await findByKey(db, renewed.secretKey))?.projectId).to.equal(first.projectId);

        await regenerateKeys(db, first.projectId);
        expect(await demoCredentials(db, options)).to.deep.equal(renewed);
        expect(reported.at(-1)).to.contain('have been changed since');
      } finally {
        await db.destroy();
        await drop();
      }
    });
  });

  it('prints every address and key, and a curl command', () => {
    const info: StackInfo = {
      apiUrl: 'http://localhost:3000',
      appUrl: 'http://localhost:3000/app/',
      docsUrl: 'http://localhost:3000/docs',
      temporalAddress: '127.0.0.1:7233',
      temporalUiUrl: 'http://localhost:8233',
      mailUrl: null,
      smtpUrl: 'smtp://127.0.0.1:1025',
      databaseUrl: 'postgres://x@127.0.0.1/everpost',
      projectId: 'the-project',
      publicKey: 'pk_1',
      secretKey: 'sk_1',
      senderDomain: 'demo.localhost',
      user: { email: 'owner@demo.localhost', password: 'hush' },
    };
    const options = { file: '.everpost/stack.json', signInUrl: 'http://localhost:3000/auth/login-link/abc' };
    const text = banner(info, { ...options, areDocsBuilt: true });
    expect(text).to.contain('http://localhost:3000/auth/login-link/abc');
    const { user, mailUrl: _, ...rest } = info;
    for (const value of [...Object.values(rest), user.email, user.password]) expect(text).to.contain(value);
    expect(text).to.not.contain('Mail page');
    expect(text).to.match(/curl -sS .* http:\/\/localhost:3000\/v1\/send .*Bearer sk_1.*hello@demo\.localhost/);
    expect(text).to.match(/Docs +http:\/\/localhost:3000\/docs\n/);
    const unbuilt = banner(info, { ...options, areDocsBuilt: false });
    expect(unbuilt, 'until the documentation is built').to.match(/Docs +http:\/\/localhost:3000\/docs \(being built;/);
  });
});
