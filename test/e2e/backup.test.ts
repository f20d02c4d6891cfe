import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import type { StackInfo } from '../../dev/stack/banner.ts';
import { client } from '../support/api.ts';
import { withoutSettings } from '../support/processes.ts';
import { eventually } from '../support/waiting.ts';

const root = resolve(import.meta.dirname, '../..');
const TIMEOUT = { timeoutMs: 120_000 };

describe('backup and restore of the one-command stack', function () {
  this.timeout(400_000);
  let home: string;
  let stack: ChildProcess | undefined;
  let info: StackInfo;

  before(() => {
    home = mkdtempSync(join(tmpdir(), 'everpost-backup-e2e-'));
    chmodSync(home, 0o755);
  });
  after(async () => {
    await stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 20 });
  });

  const env = () => ({
    ...withoutSettings(process.env),
    TEMPORAL_CLI_PATH: process.env.TEMPORAL_CLI_PATH,
    EVERPOST_HOME: join(home, 'data'),
    PORT: '0',
    WORKER_PORT: '0',
  });
  async function start(): Promise<void> {
    const file = join(home, 'data', 'stack.json');
    const started = spawn(process.execPath, ['dev/bootstrap.mjs', 'dev/start.ts', '--no-sample'], {
      cwd: root,
      env: env(),
      stdio: 'ignore',
    });
    stack = started;
    await eventually(() => existsSync(file) || started.exitCode !== null, { ...TIMEOUT, what: 'stack.json' });
    info = JSON.parse(readFileSync(file, 'utf8')) as StackInfo;
  }
  async function stop(): Promise<void> {
    if (!stack || stack.exitCode !== null) return;
    stack.kill('SIGTERM');
    await once(stack, 'exit');
  }
  const everpost = (...args: string[]) =>
    execFileSync(process.execPath, ['cli/everpost.mjs', ...args], {
      cwd: root,
      env: env(),
      encoding: 'utf8',
      stdio: 'pipe',
    });
  const server = () => client(info.apiUrl, { authorization: `Bearer ${info.secretKey}` });
  const contacts = async () =>
    ((await server().get('/contacts')).body.data as { email: string }[]).map(({ email }) => email).sort();

  it('brings back contacts and waiting executions as they were', async () => {
    await start();
    const { body: workflow } = await server().post('/workflows', { name: 'Wait', eventName: 'signed up' });
    const config = { eventName: 'bought' };
    await server().post(`/workflows/${workflow.id}/steps`, { type: 'WAIT_FOR_EVENT', name: 'Wait', config });
    expect(await server().patch(`/workflows/${workflow.id}`, { enabled: true })).to.have.status(200);
    const browser = client(info.apiUrl, { authorization: `Bearer ${info.publicKey}` });
    await browser.post('/v1/track', { email: 'ann@example.com', event: 'signed up' });
    const executions = async () =>
      (await server().get(`/workflows/${workflow.id}/executions`)).body.data as { status: string }[];
    const isWaiting = async () => (await executions())[0]?.status === 'WAITING';
    await eventually(isWaiting, { ...TIMEOUT, what: 'the execution waits' });
    const file = join(home, 'everpost.tar.gz');
    expect(() => everpost('backup', file)).to.throw(/is running/);
    await stop();
    expect(everpost('backup', file)).to.contain('Saved postgres');

    await start();
    await server().post('/contacts', { email: 'later@example.com' });
    expect(await contacts()).to.deep.equal(['ann@example.com', 'later@example.com']);
    await stop();
    expect(() => everpost('restore', file)).to.throw(/--replace/);
    expect(everpost('restore', file, '--replace')).to.contain('Restored postgres');

    await start();
    expect(await contacts()).to.deep.equal(['ann@example.com']);
    const restored = client(info.apiUrl, { authorization: `Bearer ${info.publicKey}` });
    await restored.post('/v1/track', { email: 'ann@example.com', event: 'bought' });
    const isDone = async () => (await executions())[0]?.status === 'COMPLETED';
    await eventually(isDone, { ...TIMEOUT, what: 'the end of the execution' });
    await stop();
  });
});
