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
import { endOrphans, writeDown } from '../../dev/stack/orphans.ts';
import { Family } from '../../dev/stack/process-group.ts';
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
    it('has one stack at a time, and says who it is', () => {
      const home = new Home(join(dir, 'home'));
      const held = home.lock();
      expect(() => home.lock()).to.throw(AlreadyRunning, `pid ${process.pid}`);
      held.release();
      home.lock().release();
    });

    it('begins anew without touching what is not ours', () => {
      const home = new Home(dir);
      mkdirSync(join(dir, 'postgres/base'), { recursive: true });
      for (const name of ['credentials.json', 'novel.txt', 'postgres.password']) writeFileSync(join(dir, name), '');
      home.makeFresh();
      expect(readdirSync(dir)).to.deep.equal(['novel.txt']);
    });

    it('keeps the log of the start before', () => {
      const home = new Home(dir);
      writeFileSync(home.logFile('api'), 'first');
      writeFileSync(home.logFile('api'), 'second');
      expect(readFileSync(join(dir, 'logs/api.log.old'), 'utf8')).to.equal('first');
      expect(statSync(join(dir, 'logs')).mode & 0o077).to.equal(0);
    });
  });

  describe('its children', () => {
    /** Writes its name into `ended` when it is told to go; a stubborn one does not go. */
    const child = async (family: Family, part: 'api' | 'worker' | 'temporal' | 'postgres', stubborn = false) => {
      const last = `require('fs').appendFileSync('${join(dir, 'ended')}', '${part} ')`;
      const script = `for (const s of ['SIGTERM', 'SIGINT']) process.on(s, () => { ${stubborn ? '' : `${last}; process.exit(0)`} });
        console.log('ready'); setInterval(() => {}, 1000)`;
      const logFile = join(dir, `${part}.log`);
      const started = await startChild({ name: part, command: process.execPath, args: ['-e', script], logFile });
      family.adopt(part, started);
      family.watch(part);
      while (!started.lastLines().includes('ready')) await new Promise((resolve) => setTimeout(resolve, 20));
      return started;
    };

    it('end in order: those who use a part before the part', async () => {
      const family = new Family(dir);
      for (const part of ['postgres', 'temporal', 'worker'] as const) await child(family, part);
      await family.end();
      expect(readFileSync(join(dir, 'ended'), 'utf8')).to.equal('worker temporal postgres ');
      expect(readdirSync(dir).filter((name) => name.endsWith('.json'))).to.deep.equal([]);
    });

    it('are missed when they die, with their last words', async () => {
      const family = new Family(dir);
      const api = await child(family, 'api');
      process.kill(api.pid, 'SIGKILL');
      expect(await family.death)
        .to.contain('api has died (killed by SIGKILL)')
        .and.to.contain('ready');
      await family.end();
    });

    it('that do not go are killed when it has to be quick', async () => {
      const family = new Family(dir);
      const worker = await child(family, 'worker', true);
      const slowly = family.end();
      await family.end(true);
      await slowly;
      expect((await worker.exited).signal).to.equal('SIGKILL');
    });

    it('that come when all is ending do not stay', async () => {
      const family = new Family(dir);
      await family.end();
      const late = await startChild({ name: 'late', command: 'sleep', args: ['60'], logFile: join(dir, 'late.log') });
      family.adopt('api', late);
      expect((await late.exited).signal).to.equal('SIGKILL');
    });
  });

  describe('what a killed stack left behind', () => {
    const left: ChildProcess[] = [];
    const leave = (): { pid: number; gone: Promise<unknown> } => {
      const process_ = spawn('sleep', ['60'], { detached: true });
      left.push(process_);
      return { pid: process_.pid ?? 0, gone: once(process_, 'exit') };
    };

    afterEach(() => {
      for (const one of left.splice(0)) one.kill('SIGKILL');
    });

    it('is ended before the next start', async () => {
      const [api, temporal] = [leave(), leave()];
      writeDown(dir, 'api', api.pid);
      writeDown(dir, 'temporal', temporal.pid);
      const said: string[] = [];
      await Promise.all([endOrphans(dir, (line) => said.push(line)), api.gone, temporal.gone]);
      expect(said.join('\n')).to.contain(`api (pid ${api.pid})`).and.to.contain(`temporal (pid ${temporal.pid})`);
      expect(readdirSync(dir)).to.deep.equal([]);
    });

    it('is left alone when the number belongs to somebody else now', async () => {
      const stranger = leave();
      writeFileSync(join(dir, 'api.json'), JSON.stringify({ pid: stranger.pid, startedAt: 'long ago' }));
      await endOrphans(dir, silent);
      const identity = identityOf(stranger.pid);
      expect(identity && isRunning(identity)).to.equal(true);
      expect(existsSync(join(dir, 'api.json'))).to.equal(false);
    });
  });

  describe('its demo project', () => {
    it('is made once, found again, and its secrets are for our eyes only', async () => {
      const { url, drop } = await createDatabase();
      const db = connectDb({ databaseUrl: url, poolSize: 2 });
      const file = join(dir, 'credentials.json');
      const said: string[] = [];
      const options = { file, shared: false, report: (line: string) => said.push(line) };
      try {
        const first = await demoCredentials(db, options);
        expect(first).to.deep.include({ senderDomain: 'demo.localhost' });
        expect((await findByKey(db, first.secretKey))?.projectId).to.equal(first.projectId);
        expect(statSync(file).mode & 0o777).to.equal(0o600);
        expect(await demoCredentials(db, options)).to.deep.equal(first);
        expect(said).to.deep.equal([]);

        rmSync(file);
        const renewed = await demoCredentials(db, options);
        expect(renewed.projectId).to.equal(first.projectId);
        expect(await findByKey(db, first.secretKey)).to.equal(undefined);
        expect((await findByKey(db, renewed.secretKey))?.projectId).to.equal(first.projectId);
        expect(said.join()).to.contain('new keys and a new password');

        const other = await demoCredentials(db, { ...options, file: join(dir, 'other.json'), shared: true });
        expect(other.projectId).to.not.equal(first.projectId);
        expect((await findByKey(db, renewed.secretKey))?.projectId).to.equal(first.projectId);

        await regenerateKeys(db, first.projectId);
        expect(await demoCredentials(db, options)).to.deep.equal(renewed);
        expect(said.at(-1)).to.contain('have been changed since');
      } finally {
        await db.destroy();
        await drop();
      }
    });
  });

  it('prints every address and key, and a line to try', () => {
    const info: StackInfo = {
      apiUrl: 'http://localhost:3000',
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
    const text = banner(info, '.everpost/stack.json');
    const { user, mailUrl: _, ...rest } = info;
    for (const value of [...Object.values(rest), user.email, user.password]) expect(text).to.contain(value);
    expect(text).to.not.contain('Mail page');
    expect(text).to.match(/curl -X POST http:\/\/localhost:3000\/v1\/send .*Bearer sk_1.*hello@demo\.localhost/);
  });
});
