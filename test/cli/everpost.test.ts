import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { main } from '../../cli/main.ts';
import { compiledProgram } from '../../dev/program.ts';
import { root } from '../../dev/root.ts';
import { verifyPassword } from '../../platform/crypto/secrets.ts';
import { newId } from '../../platform/ids.ts';
import { findByKey } from '../../services/access/keys.ts';
import { addSigningKey, makeDomainKey } from '../../services/domains/keys.ts';
import { createProject } from '../../services/projects/create.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { type ConnectedDatabase, connectTestDatabase, makeProject } from '../support/connected-database.ts';
import { startDns } from '../support/dns.ts';
import { createEmptyDatabase } from '../support/postgres.ts';
import {
  setUser,
  storedAudit,
  storedMemberships,
  storedRecoveryCodes,
  userByEmail,
  userById,
} from '../support/rows/accounts.ts';
import { addMailRows, removeMails } from '../support/rows/mails.ts';
import {
  addOutboxMessage,
  emptyOutbox,
  outboxMessages,
  parkedMessages,
  parkOutboxMessage,
} from '../support/rows/outbox.ts';
import { addProcess, removeProcesses } from '../support/rows/processes.ts';
import { storedDomains, storedProject } from '../support/rows/projects.ts';
import { startS3 } from '../support/s3.ts';
import { startSmtp } from '../support/smtp.ts';
import { ownNamespace } from '../support/temporal-work.ts';
import { insertUser } from '../support/users.ts';

const emptyHome = mkdtempSync(join(tmpdir(), 'everpost-cli-'));

interface Result {
  status: number;
  out: string;
  // biome-ignore lint/suspicious/noExplicitAny: assertions state the shape
  json: any;
}

const cleanEnv = (env: Record<string, string>) => ({ PATH: process.env.PATH ?? '', EVERPOST_HOME: emptyHome, ...env });

/** Runs the program as an operator does; only `env` configures it. */
function spawned(
  args: string[],
  env: Record<string, string> = {},
  program = join(root, 'cli/everpost.mjs'),
): Promise<Result> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: cleanEnv(env) };
    execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
      const json = stdout.startsWith('{') ? JSON.parse(stdout) : undefined;
      resolve({ status: error ? Number(error.code ?? 1) : 0, out: stdout + stderr, json });
    });
  });
}

/** Runs a program of npm in a folder. */
function execText(command: string, args: string[], cwd: string): Promise<{ out: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env: process.env }, (_error, stdout, stderr) => resolve({ out: stdout + stderr }));
  });
}

/** Runs the program in this process: starting another takes seconds. */
async function everpost(args: string[], env: Record<string, string> = {}): Promise<Result> {
  const before = process.env;
  const { log, error } = console;
  const lines: string[] = [];
  const capture = (line: string) => void lines.push(line);
  process.env = cleanEnv(env);
  Object.assign(console, { log: capture, error: capture });
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

describe('npx everpost', () => {
  let database: ConnectedDatabase;
  let env: Record<string, string>;

  before(async () => {
    database = await connectTestDatabase(3);
    env = { DATABASE_URL: database.url };
  });
  after(() => database.close());

  it('lists its commands with --help', async () => {
    const { status, out } = await spawned(['--help']);
    expect(status).to.equal(0);
    for (const name of [
      'user',
      'project',
      'keys',
      'outbox',
      'queues',
      'deploy',
      'workflows',
      'mail',
      'migrate',
      'doctor',
    ])
      expect(out).to.contain(name);
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(await spawned(['--version'])).to.include({ status: 0, out: `${version}\n` });
  });

  it('runs the build where the packages for development are missing, and says when there is none', async () => {
    const checkout = mkdtempSync(join(tmpdir(), 'everpost-checkout-'));
    mkdirSync(join(checkout, 'cli'));
    for (const name of ['everpost.mjs', 'main.ts']) copyFileSync(join(root, 'cli', name), join(checkout, 'cli', name));
    const run = () => spawned(['--help'], {}, join(checkout, 'cli/everpost.mjs'));
    const unbuilt = await run();
    expect(unbuilt.status).to.equal(1);
    expect(unbuilt.out).to.contain('npm run build').and.not.contain('at ');
    symlinkSync(await compiledProgram(), join(checkout, 'dist'));
    const built = await run();
    expect(built.status, built.out).to.equal(0);
    expect(built.out).to.contain('doctor');
  });

  it('is linked by the installation, so that npx installs nothing, neither ours nor of another', async () => {
    const checkout = mkdtempSync(join(tmpdir(), 'everpost-checkout-'));
    for (const name of ['package.json', '.npmrc']) copyFileSync(join(root, name), join(checkout, name));
    mkdirSync(join(checkout, 'cli'));
    writeFileSync(join(checkout, 'cli/everpost.mjs'), '#!/usr/bin/env node\nconsole.log("ours");\n', { mode: 0o755 });
    // A user who does not own the checkout cannot change the mode of its files, as npm does when it installs a program.
    const npx = () => execText('npx', ['everpost'], checkout);
    expect((await npx()).out).to.match(/could not determine executable|canceled/);
    await execText('npm', ['run', 'postinstall'], checkout);
    expect((await npx()).out).to.contain('ours');
    expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).not.to.have.property('bin');
  });

  it('names the variable that mcp takes the key from', async () => {
    const { status, out } = await everpost(['mcp'], { EVERPOST_URL: 'http://127.0.0.1:1' });
    expect(status).to.equal(1);
    expect(out).to.contain('EVERPOST_SECRET_KEY').and.not.contain('--key');
  });

  it('creates a user and a project, rotates keys, disables and enables', async () => {
    const user = await spawned(['user', 'create', '--email', 'Op@Example.com', '--json'], env);
    expect(user.status, user.out).to.equal(0);
    expect(user.json).to.deep.include({ ok: true });
    const row = await userByEmail(database.db, 'op@example.com');
    expect(row).to.include({ id: user.json.user.id, emailVerified: true });
    expect(await verifyPassword(row.passwordHash, user.json.user.password)).to.equal(true);

    const made = await everpost(['project', 'create', '--name', 'Shop', '--owner', 'op@example.com', '--json'], env);
    const { id, secretKey } = made.json.project;
    expect(await findByKey(database.db, secretKey)).to.include({ projectId: id });
    expect(await storedMemberships(database.db, { projectId: id }).first()).to.include({
      userId: row.id,
      role: 'OWNER',
    });

    const rotated = await everpost(['keys', 'rotate', id, '--json'], env);
    expect(await findByKey(database.db, secretKey)).to.equal(undefined);
    expect(await findByKey(database.db, rotated.json.project.secretKey)).to.include({ projectId: id });

    const disabled = await everpost(['project', 'disable', id, '--reason', 'spam', '--json'], env);
    expect(disabled.json).to.deep.include({ ok: true, changed: true });
    expect(await storedProject(database.db, id)).to.include({ disabled: true, disabledReason: 'spam' });
    const enabled = await everpost(['project', 'enable', id], env);
    expect(enabled.out).to.contain('enabled');
    expect(await storedProject(database.db, id)).to.include({ disabled: false });
  });

  it('prints one line or JSON and exits with 1 when a command fails', async () => {
    const cases: [string[], RegExp][] = [
      [['user', 'create', '--email', 'ann'], /not an email address/],
      [['user', 'create', '--email', 'a@b.co', '--password', 'short'], /at least 8/],
      [['user', 'create', '--email', 'op@example.com'], /already/],
      [['project', 'create', '--name', 'x', '--owner', 'who@example.com'], /no user who@example\.com/],
      [['project', 'create', '--name', 'a\u200bb', '--owner', 'op@example.com'], /invisible/],
      [['keys', 'rotate', '../../etc'], /no id/],
      [['project', 'enable', '00000000-0000-4000-8000-000000000000'], /Project not found/],
    ];
    for (const [args, message] of cases) {
      const { status, json, out } = await everpost([...args, '--json'], env);
      expect(status, out).to.equal(1);
      expect(json.ok).to.equal(false);
      expect(json.error).to.match(message);
    }
    const { status, out } = await spawned(['user', 'create', '--email', 'ann'], env);
    expect(status).to.equal(1);
    expect(out.trim()).to.equal('"ann" is not an email address.');
  });

  it('applies pending migrations once', async () => {
    const empty = await createEmptyDatabase();
    const first = await everpost(['migrate', '--json'], { DATABASE_URL: empty.url });
    expect(first.json.applied, first.out).to.include('001-baseline');
    const second = await everpost(['migrate', '--json'], { DATABASE_URL: empty.url });
    expect(second.json).to.deep.equal({ ok: true, applied: [] });
    await empty.drop();
  });

  it('uses the stack of npm start when no database is set', async () => {
    const home = mkdtempSync(join(tmpdir(), 'everpost-home-'));
    const stack = { databaseUrl: database.url, temporalAddress: '127.0.0.1:1', smtpUrl: 'smtp://127.0.0.1:1' };
    writeFileSync(join(home, 'stack.json'), JSON.stringify({ ...stack, apiUrl: 'http://localhost:3000' }));
    const { json, out } = await everpost(['migrate', '--json'], { EVERPOST_HOME: home });
    expect(json, out).to.deep.equal({ ok: true, applied: [] });
  });

  describe('user', () => {
    const operator = async (email: string) => (await userByEmail(database.db, email)).operator;

    it('makes an operator, once, with an entry in the audit log', async () => {
      const { id } = await insertUser(database.db, { email: 'chief@example.com' });
      const made = await everpost(['user', 'make-operator', 'Chief@Example.com', '--json'], env);
      expect(made.json, made.out).to.deep.equal({ ok: true, user: { id, email: 'chief@example.com' }, changed: true });
      expect(await operator('chief@example.com')).to.equal(true);
      const again = await everpost(['user', 'make-operator', 'chief@example.com'], env);
      expect(again.out).to.equal('chief@example.com was an operator before');
      const acts = await storedAudit(database.db, { userId: id });
      expect(acts.map(({ action, actorType }) => [action, actorType])).to.deep.equal([
        ['user.operator_made', 'SYSTEM'],
      ]);
    });

    it('turns two-factor authentication off for who lost it', async () => {
      const { id } = await insertUser(database.db, { email: 'lost@example.com' });
      const idle = await everpost(['user', 'reset-2fa', 'lost@example.com'], env);
      expect(idle.out).to.equal('lost@example.com had no two-factor authentication');
      await setUser(database.db, id, { totpSecret: 'sealed', totpEnabledAt: new Date() });
      await database.db('userRecoveryCodes').insert({ userId: id, codeHash: Buffer.from('x') });
      const reset = await everpost(['user', 'reset-2fa', 'lost@example.com', '--json'], env);
      expect(reset.json).to.deep.include({ ok: true, changed: true });
      expect(await userById(database.db, id)).to.include({ totpSecret: null, totpEnabledAt: null });
      expect(await storedRecoveryCodes(database.db, id)).to.have.length(0);
    });

    it('exits with 1 for an unknown user', async () => {
      for (const command of ['make-operator', 'reset-2fa']) {
        const { status, json } = await everpost(['user', command, 'nobody@example.com', '--json'], env);
        expect(status).to.equal(1);
        expect(json.error).to.equal('There is no user nobody@example.com.');
      }
    });
  });

  it('lists projects with volume and state, all or those that match', async () => {
    const owner = await insertUser(database.db, { email: 'owner@example.com' });
    const { project } = await createProject(database.db, { name: 'Green Shop', ownerId: owner.id });
    await createProject(database.db, { name: 'Other', ownerId: owner.id });
    await everpost(['project', 'disable', project.id, '--reason', 'spam'], env);
    const { json, out } = await everpost(['project', 'list', '--search', 'green', '--json'], env);
    expect(json.projects, out).to.have.length(1);
    expect(json.projects[0]).to.deep.include({ id: project.id, name: 'Green Shop', disabled: true, members: 1 });
    const all = await everpost(['project', 'list', '--json'], env);
    expect(all.json.projects.length).to.be.greaterThan(1);
    const lines = await everpost(['project', 'list', '--search', project.id], env);
    expect(lines.out).to.equal(`${project.id} Green Shop: disabled (spam); 0 mails in a day, 0 in 30 days; healthy`);
    expect((await everpost(['project', 'list', '--search', 'no such'], env)).out).to.equal('No project found.');
  });

  it('shows the depth and age of all queues', async () => {
    await emptyOutbox(database.db);
    const createdAt = new Date(Date.now() - 60_000);
    const message = { queue: 'control', projectId: newId(), workflowId: 'campaign/1', action: 'signal', createdAt };
    await addOutboxMessage(database.db, message);
    const { json, out } = await everpost(['queues', '--json'], env);
    const byName = Object.fromEntries(json.queues.map((queue: { name: string }) => [queue.name, queue]));
    expect(byName['outbox/control'].depth, out).to.equal(1);
    expect(byName['outbox/control'].oldestSeconds).to.be.within(59, 600);
    const lines = (await everpost(['queues'], env)).out.split('\n');
    expect(lines).to.include('outbox/starts: empty');
    expect(lines.find((line) => line.startsWith('outbox/control'))).to.match(
      /^outbox\/control: 1, the oldest for \d+ s$/,
    );
  });

  describe('outbox', () => {
    const park = async (workflowId: string, lastError: string, projectId = newId()): Promise<string> => {
      const message = { queue: 'control', projectId, workflowId, action: 'signal', attempts: 10 };
      return parkOutboxMessage(database.db, { ...message, lastError, parkedAt: new Date('2026-01-02T03:04:05Z') });
    };
    const audited = (projectId: string) =>
      storedAudit(database.db, { projectId }).select('action', 'actorType', 'targetId', 'changes');
    beforeEach(() => emptyOutbox(database.db));

    it('lists parked messages with their last error', async () => {
      await addOutboxMessage(database.db, {
        queue: 'starts',
        projectId: newId(),
        workflowId: 'job/1',
        action: 'start',
      });
      const id = await park('campaign/1', 'no such signal');
      const listed = await everpost(['outbox', 'parked', '--json'], env);
      expect(listed.status, listed.out).to.equal(0);
      expect(listed.json.messages).to.deep.equal([
        {
          id,
          queue: 'control',
          workflowId: 'campaign/1',
          action: 'signal',
          attempts: 10,
          lastError: 'no such signal',
          parkedAt: '2026-01-02T03:04:05.000Z',
        },
      ]);
      const { out } = await everpost(['outbox', 'parked'], env);
      expect(out).to.equal(
        `${id} control signal campaign/1\n  parked since 2026-01-02T03:04:05.000Z after 10 attempts: no such signal`,
      );
    });

    it('says so when no message is parked', async () => {
      expect((await everpost(['outbox', 'parked'], env)).out).to.equal('No message is parked.');
      expect((await everpost(['outbox', 'parked', '--json'], env)).json).to.deep.equal({ ok: true, messages: [] });
    });

    it('retries one parked message and leaves the others parked', async () => {
      const projectId = newId();
      const first = await park('campaign/1', 'broken', projectId);
      const second = await park('campaign/2', 'broken');
      const retried = await everpost(['outbox', 'retry', first, '--json'], env);
      expect(retried.json, retried.out).to.deep.equal({ ok: true, retried: 1 });
      expect(await outboxMessages(database.db, { id: first }).first()).to.include({ parkedAt: null, attempts: 0 });
      expect((await everpost(['outbox', 'parked', '--json'], env)).json.messages[0].id).to.equal(second);
      expect(await audited(projectId)).to.deep.equal([
        { action: 'outbox.retried', actorType: 'SYSTEM', targetId: first, changes: {} },
      ]);
    });

    it('retries all parked messages with --all', async () => {
      const projectId = newId();
      for (const id of [projectId, projectId, newId()]) await park('campaign/1', 'broken', id);
      expect((await everpost(['outbox', 'retry', '--all'], env)).out).to.equal('3 messages are retried now');
      expect(await parkedMessages(database.db)).to.deep.equal([]);
      const changes = { messages: { from: null, to: 2 } };
      expect(await audited(projectId)).to.deep.equal([
        { action: 'outbox.retried', actorType: 'SYSTEM', targetId: null, changes },
      ]);
    });

    it('exits with 1 when retry gets no id, an id with --all, or an id that is not parked', async () => {
      const id = await park('campaign/1', 'broken');
      const cases: [string[], RegExp][] = [
        [[], /or --all/],
        [[id, '--all'], /or --all/],
        [['1; drop table outbox'], /no id of a message/],
        [['999999'], /No message 999999 is parked/],
      ];
      for (const [args, message] of cases) {
        const { status, json, out } = await everpost(['outbox', 'retry', ...args, '--json'], env);
        expect(status, out).to.equal(1);
        expect(json.error).to.match(message);
      }
      expect(await parkedMessages(database.db)).to.have.length(1);
    });
  });

  describe('mail blocked', () => {
    it('counts blocked mail by project and reason, the oldest first', async () => {
      const disabled = newId();
      const unverified = newId();
      const mail = (projectId: string, reason: string, blockedDomain: string | null, day: number) => ({
        id: newId(),
        contactId: newId(),
        projectId,
        reason,
        blockedDomain,
        createdAt: new Date(Date.UTC(2026, 0, day)),
      });
      await addMailRows(database.db, [
        mail(unverified, 'domain not verified', 'b.example', 3),
        mail(unverified, 'domain not verified', 'a.example', 2),
        mail(disabled, 'project disabled', '', 1),
        mail(disabled, '451 try later', null, 1),
        { ...mail(disabled, 'project disabled', 'a.example', 1), status: 'SENT' },
      ]);
      const { json, out } = await everpost(['mail', 'blocked', '--json'], env);
      expect(json, out).to.deep.equal({
        ok: true,
        blocked: [
          {
            projectId: disabled,
            reason: 'project disabled',
            domains: [],
            count: 1,
            oldest: '2026-01-01T00:00:00.000Z',
          },
          {
            projectId: unverified,
            reason: 'domain not verified',
            domains: ['a.example', 'b.example'],
            count: 2,
            oldest: '2026-01-02T00:00:00.000Z',
          },
        ],
      });
      expect((await everpost(['mail', 'blocked'], env)).out.split('\n')).to.deep.equal([
        `project ${disabled}: 1 mail, the oldest of 2026-01-01T00:00:00.000Z; project disabled`,
        `project ${unverified}: 2 mails, the oldest of 2026-01-02T00:00:00.000Z; domain not verified; from a.example, b.example`,
      ]);
    });

    it('says so when no mail is blocked', async () => {
      await removeMails(database.db);
      expect((await everpost(['mail', 'blocked'], env)).out).to.equal('No mail is blocked.');
    });
  });

  describe('doctor', () => {
    const partsOf = ({ json }: Result) =>
      Object.fromEntries(json.findings.map(({ part, state }: Record<string, string>) => [part, state]));

    it('reports every part as ok when all work', async () => {
      const smtp = await startSmtp();
      const dns = await startDns();
      const temporal = await ownNamespace();
      const result = await everpost(['doctor', '--json'], {
        ...env,
        SMTP_URL: smtp.url,
        DNS_SERVERS: dns.address,
        TEMPORAL_ADDRESS: temporal.address,
        TEMPORAL_NAMESPACE: temporal.namespace,
      });
      expect(result.status, result.out).to.equal(0);
      const { workers, ...others } = partsOf(result);
      expect(new Set(Object.values(others))).to.deep.equal(new Set(['ok']));
      expect(workers, 'none runs here').to.equal('warning');
      await Promise.all([smtp.close(), dns.stop(), temporal.close()]);
    });

    it('reports task queues without a worker, but none whose worker is busy', async () => {
      const temporal = await ownNamespace();
      const settings = { ...env, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace };
      const workers = async () =>
        (await everpost(['doctor', '--json'], settings)).json.findings.find(
          ({ part }: { part: string }) => part === 'workers',
        );
      const { bulk, ...others } = taskQueues;
      // Alive for the whole test, however long the checks take.
      const seenAt = new Date(Date.now() + 3_600_000);
      const addWorker = (busyQueues: string[]) =>
        addProcess(database.db, {
          id: newId(),
          kind: 'worker',
          version: '1.0.0',
          host: 'here',
          pid: 1,
          seenAt,
          busyQueues,
        });
      await addWorker(Object.values(others));
      expect(await workers()).to.include({ state: 'fault', message: `No worker polls ${bulk}.` });
      await addWorker([bulk]);
      expect(await workers()).to.include({ state: 'ok' });
      await removeProcesses(database.db);
      await temporal.close();
    });

    it('reports every failing part with advice', async () => {
      const empty = await createEmptyDatabase();
      const result = await everpost(['doctor', '--json'], {
        DATABASE_URL: empty.url,
        SMTP_URL: 'smtp://127.0.0.1:1',
        DNS_SERVERS: '127.0.0.1:1',
        TEMPORAL_ADDRESS: '127.0.0.1:1',
        NODE_ENV: 'production',
        SECRET_KEY: 'a secret of our own and long enough',
        UPLOADS_DIR: '/proc/uploads',
      });
      expect(result.status).to.equal(1);
      expect(partsOf(result)).to.include({
        settings: 'ok',
        'base url': 'fault',
        database: 'ok',
        migrations: 'fault',
        temporal: 'fault',
        smtp: 'fault',
        dns: 'fault',
        uploads: 'warning',
        disk: 'ok',
      });
      for (const { state, advice } of result.json.findings)
        if (state !== 'ok') expect(advice).to.be.a('string').and.not.equal('');
      await empty.drop();
    });

    it('reports secrets that SECRET_KEY does not open', async () => {
      const project = await makeProject(database.db);
      const [domain] = await storedDomains(database.db, { projectId: project.id });
      await addSigningKey(database.db, domain?.id ?? '', await makeDomainKey(['the key that sealed']));
      const secretsOf = async (SECRET_KEY: string) =>
        (await everpost(['doctor', '--json'], { ...env, SECRET_KEY })).json.findings.find(
          ({ part }: Record<string, string>) => part === 'secrets',
        );
      const unopened = await secretsOf('quite another key');
      expect(unopened.state).to.equal('fault');
      expect(unopened.message).to.match(/DKIM keys.*SECRET_KEY no longer has/);
      expect(await secretsOf('quite another key,the key that sealed')).to.include({ state: 'ok' });
    });

    it('stores a file in the bucket, and reports one that refuses it', async () => {
      const s3 = await startS3('our-bucket');
      const bucket = {
        S3_BUCKET: 'our-bucket',
        S3_ENDPOINT: s3.url,
        S3_REGION: 'eu-central-1',
        S3_ACCESS_KEY_ID: 'our-id',
        S3_SECRET_ACCESS_KEY: 'our-secret',
      };
      const uploadsOf = async (more: Record<string, string>) =>
        (await spawned(['doctor', '--json'], { ...bucket, ...more })).json.findings.find(
          ({ part }: Record<string, string>) => part === 'uploads',
        );
      expect(await uploadsOf({})).to.include({ state: 'ok' });
      expect([...s3.objects.keys()], 'removed again').to.deep.equal([]);
      expect(await uploadsOf({ S3_BUCKET: 'another' })).to.include({ state: 'fault' });
      expect(await uploadsOf({ S3_ACCESS_KEY_ID: 'wrong' })).to.include({ state: 'fault' });
      await s3.close();
    });

    it('names SMTP_ALLOW_PLAIN_AUTH when the relay has no TLS and the URL a password', async () => {
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

    it('reports invalid settings and an unreachable database', async () => {
      const bad = await everpost(['doctor', '--json'], { PORT: 'many', SMTP_URL: 'gopher://x' });
      expect(bad.status).to.equal(1);
      expect(bad.json.findings[0].message).to.match(/PORT[\s\S]*SMTP_URL/);
      const unreachable = await everpost(['doctor'], { DATABASE_URL: 'postgres://x:y@127.0.0.1:1/z' });
      expect(unreachable.status).to.equal(1);
      expect(unreachable.out).to.match(/FAULT {3}database: .*ECONNREFUSED/);
    });

    it('names npm start where nothing is set, and is named by commands that reach no database', async () => {
      const unset = await everpost(['doctor']);
      expect(unset.out).to.match(/FAULT {3}database: DATABASE_URL is not set\.\n *→ .*"npm start"/);
      const queues = await everpost(['queues'], { DATABASE_URL: 'postgres://x:y@127.0.0.1:1/z' });
      expect(queues.status).to.equal(1);
      expect(queues.out).to.match(/ECONNREFUSED.*\n"everpost doctor" checks/);
    });
  });
});
