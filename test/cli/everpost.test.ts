import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { main } from '../../cli/main.ts';
import { verifyPassword } from '../../platform/secrets.ts';
import { findByKey } from '../../services/access/keys.ts';
import { startDns } from '../support/dns.ts';
import { createEmptyDatabase } from '../support/postgres.ts';
import { startSmtp } from '../support/smtp.ts';
import { ownNamespace } from '../support/temporal-work.ts';
import { openWorld, type World } from '../support/world.ts';

const root = join(import.meta.dirname, '../..');
const nowhere = mkdtempSync(join(tmpdir(), 'everpost-cli-'));

interface Ended {
  status: number;
  out: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test says by its assertions what it is
  json: any;
}

const clean = (env: Record<string, string>) => ({ PATH: process.env.PATH ?? '', EVERPOST_HOME: nowhere, ...env });

/** The program as an operator calls it; nothing but `env` says where things are. */
function spawned(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: clean(env) };
    execFile(process.execPath, ['cli/everpost.mjs', ...args], options, (error, stdout, stderr) => {
      const json = stdout.startsWith('{') ? JSON.parse(stdout) : undefined;
      resolve({ status: error ? Number(error.code ?? 1) : 0, out: stdout + stderr, json });
    });
  });
}

/** The same without a process of its own, which takes seconds to begin. */
async function everpost(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const [before, { log, error }] = [process.env, console];
  const lines: string[] = [];
  const keep = (line: string) => void lines.push(line);
  process.env = clean(env);
  Object.assign(console, { log: keep, error: keep });
  try {
    await main(['node', 'everpost', ...args]);
    const out = lines.join('\n');
    return { status: Number(process.exitCode ?? 0), out, json: out.startsWith('{') ? JSON.parse(out) : undefined };
  } finally {
    process.env = before;
    Object.assign(console, { log, error });
    process.exitCode = 0;
  }
}

describe('npx everpost', function () {
  this.timeout(60_000);
  let world: World;
  let env: Record<string, string>;

  before(async () => {
    world = await openWorld(3);
    env = { DATABASE_URL: world.url };
  });
  after(() => world.close());

  it('lists its commands', async () => {
    const { status, out } = await spawned(['--help']);
    expect(status).to.equal(0);
    for (const name of ['user', 'project', 'keys', 'migrate', 'doctor']) expect(out).to.contain(name);
  });

  it('makes a user, a project and its keys, rotates them, disables and enables', async () => {
    const user = await spawned(['user', 'create', '--email', 'Op@Example.com', '--json'], env);
    expect(user.status, user.out).to.equal(0);
    expect(user.json).to.deep.include({ ok: true });
    const row = await world.db('users').where({ email: 'op@example.com' }).first();
    expect(row).to.include({ id: user.json.user.id, emailVerified: true });
    expect(await verifyPassword(row.passwordHash, user.json.user.password)).to.equal(true);

    const made = await everpost(['project', 'create', '--name', 'Shop', '--owner', 'op@example.com', '--json'], env);
    const { id, secretKey } = made.json.project;
    expect(await findByKey(world.db, secretKey)).to.include({ projectId: id });
    expect(await world.db('memberships').where({ projectId: id }).first()).to.include({
      userId: row.id,
      role: 'OWNER',
    });

    const rotated = await everpost(['keys', 'rotate', id, '--json'], env);
    expect(await findByKey(world.db, secretKey)).to.equal(undefined);
    expect(await findByKey(world.db, rotated.json.project.secretKey)).to.include({ projectId: id });

    const disabled = await everpost(['project', 'disable', id, '--reason', 'spam', '--json'], env);
    expect(disabled.json).to.deep.include({ ok: true, changed: true });
    expect(await world.db('projects').where({ id }).first()).to.include({ disabled: true, disabledReason: 'spam' });
    const enabled = await everpost(['project', 'enable', id], env);
    expect(enabled.out).to.contain('enabled');
    expect(await world.db('projects').where({ id }).first()).to.include({ disabled: false });
  });

  it('says what is wrong in a line, or as JSON, and ends with 1', async () => {
    const cases: [string[], RegExp][] = [
      [['user', 'create', '--email', 'nobody'], /no e-mail address/],
      [['user', 'create', '--email', 'a@b.co', '--password', 'short'], /at least 8/],
      [['user', 'create', '--email', 'op@example.com'], /already/],
      [['project', 'create', '--name', 'x', '--owner', 'who@example.com'], /no user who@example\.com/],
      [['project', 'create', '--name', 'a\u200bb', '--owner', 'op@example.com'], /invisible/],
      [['keys', 'rotate', '../../etc'], /no id/],
      [['project', 'enable', '00000000-0000-4000-8000-000000000000'], /no such project/],
    ];
    for (const [args, message] of cases) {
      const { status, json, out } = await everpost([...args, '--json'], env);
      expect(status, out).to.equal(1);
      expect(json.ok).to.equal(false);
      expect(json.error).to.match(message);
    }
    const { status, out } = await spawned(['user', 'create', '--email', 'nobody'], env);
    expect(status).to.equal(1);
    expect(out.trim()).to.equal('"nobody" is no e-mail address.');
  });

  it('migrates', async () => {
    const empty = await createEmptyDatabase();
    const first = await everpost(['migrate', '--json'], { DATABASE_URL: empty.url });
    expect(first.json.applied, first.out).to.include('001-frame');
    const second = await everpost(['migrate', '--json'], { DATABASE_URL: empty.url });
    expect(second.json).to.deep.equal({ ok: true, applied: [] });
    await empty.drop();
  });

  it('finds the stack that npm start runs beside it', async () => {
    const home = mkdtempSync(join(tmpdir(), 'everpost-home-'));
    const stack = { databaseUrl: world.url, temporalAddress: '127.0.0.1:1', smtpUrl: 'smtp://127.0.0.1:1' };
    writeFileSync(join(home, 'stack.json'), JSON.stringify({ ...stack, apiUrl: 'http://localhost:3000' }));
    const { json, out } = await everpost(['migrate', '--json'], { EVERPOST_HOME: home });
    expect(json, out).to.deep.equal({ ok: true, applied: [] });
  });

  describe('doctor', () => {
    const partsOf = ({ json }: Ended) =>
      Object.fromEntries(json.findings.map(({ part, state }: Record<string, string>) => [part, state]));

    it('finds nothing wrong where nothing is', async () => {
      const [smtp, dns, temporal] = [await startSmtp(), await startDns(), await ownNamespace()];
      const ended = await everpost(['doctor', '--json'], {
        ...env,
        SMTP_URL: smtp.url,
        DNS_SERVERS: dns.address,
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_NAMESPACE: temporal.namespace,
      });
      expect(ended.status, ended.out).to.equal(0);
      expect(new Set(Object.values(partsOf(ended)))).to.deep.equal(new Set(['ok']));
      await Promise.all([smtp.close(), dns.stop(), temporal.close()]);
    });

    it('names every fault, and what to do about it', async () => {
      const empty = await createEmptyDatabase();
      const ended = await everpost(['doctor', '--json'], {
        DATABASE_URL: empty.url,
        SMTP_URL: 'smtp://127.0.0.1:1',
        DNS_SERVERS: '127.0.0.1:1',
        TEMPORAL_ADDRESS: '127.0.0.1:1',
        NODE_ENV: 'production',
        SECRET_KEY: 'a secret of our own and long enough',
        UPLOADS_DIR: '/proc/uploads',
      });
      expect(ended.status).to.equal(1);
      expect(partsOf(ended)).to.include({
        settings: 'ok',
        'base url': 'fault',
        database: 'ok',
        migrations: 'fault',
        temporal: 'fault',
        smtp: 'fault',
        dns: 'fault',
      });
      for (const { state, advice } of ended.json.findings)
        if (state !== 'ok') expect(advice).to.be.a('string').and.not.equal('');
      await empty.drop();
    });

    it('names the setting where a relay without TLS would be given a password', async () => {
      const smtp = await startSmtp();
      const relay = { SMTP_URL: smtp.url.replace('127.0.0.1', 'me:secret@0.0.0.0') };
      const smtpOf = async (more: Record<string, string>) =>
        (await everpost(['doctor', '--json'], { ...relay, ...more })).json.findings.find(
          ({ part }: Record<string, string>) => part === 'smtp',
        );
      const refused = await smtpOf({});
      expect(refused.state).to.equal('fault');
      expect(refused.message).to.contain('SMTP_ALLOW_PLAIN_AUTH').and.not.contain('secret');
      expect(await smtpOf({ SMTP_ALLOW_PLAIN_AUTH: 'true' })).to.include({ state: 'ok' });
      await smtp.close();
    });

    it('tells of settings that cannot be read, and of a database that is away', async () => {
      const bad = await everpost(['doctor', '--json'], { PORT: 'many', SMTP_URL: 'gopher://x' });
      expect(bad.status).to.equal(1);
      expect(bad.json.findings[0].message).to.match(/PORT[\s\S]*SMTP_URL/);
      const away = await everpost(['doctor'], { DATABASE_URL: 'postgres://x:y@127.0.0.1:1/z' });
      expect(away.status).to.equal(1);
      expect(away.out).to.match(/FAULT {3}database: .*ECONNREFUSED/);
    });
  });
});
