import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
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
import { isRunning, type ProcessIdentity } from '../../dev/process-identity.ts';
import { root } from '../../dev/root.ts';
import type { StackInfo } from '../../dev/stack/banner.ts';
import { withoutSettings } from '../support/processes.ts';
import { eventually } from '../support/waiting.ts';

const READY_WITHIN_MS = 120_000;

describe('npm start', () => {
  let home: string;
  let output: string;
  let npm: ChildProcess | undefined;

  const start = (...args: string[]): ChildProcess => {
    const { TEMPORAL_CLI_PATH } = process.env;
    const env = {
      ...withoutSettings(process.env),
      TEMPORAL_CLI_PATH,
      EVERPOST_HOME: home,
      PORT: '0',
      WORKER_PORT: '0',
    };
    const started = spawn('npm', ['start', ...(args.length > 0 ? ['--', ...args] : [])], {
      cwd: root,
      env,
      detached: true,
    });
    for (const stream of [started.stdout, started.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    return started;
  };

  const file = (name: string) => join(home, name);
  const startedStack = async (): Promise<StackInfo> => {
    npm = start();
    await eventually(() => existsSync(file('stack.json')) || npm?.exitCode !== null, {
      timeoutMs: READY_WITHIN_MS,
      what: 'stack.json',
    });
    if (!existsSync(file('stack.json'))) throw new Error(`npm start ended:\n${output}`);
    return JSON.parse(readFileSync(file('stack.json'), 'utf8')) as StackInfo;
  };
  const children = (): ProcessIdentity[] =>
    readdirSync(file('run'))
      .filter((name) => name.endsWith('.json'))
      .map((name) => JSON.parse(readFileSync(join(file('run'), name), 'utf8')) as ProcessIdentity);
  const stackProcess = (): ProcessIdentity =>
    JSON.parse(readFileSync(join(file('run'), 'stack.lock'), 'utf8')) as ProcessIdentity;
  const expectAllProcessesEnd = async (all: ProcessIdentity[]): Promise<void> => {
    const alive = () => all.filter(isRunning).map(({ pid }) => pid);
    await eventually(() => alive().length === 0, { what: 'the end of all processes' });
    expect(existsSync(file('stack.json'))).to.equal(false);
  };

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'everpost-home-'));
    chmodSync(home, 0o755);
    output = '';
  });

  afterEach(async () => {
    // Ends what a failed test left running: the stack first, because it reacts to exits of its children.
    const left = existsSync(file('run'))
      ? [...(existsSync(join(file('run'), 'stack.lock')) ? [stackProcess()] : []), ...children()]
      : [];
    for (const identity of left) if (isRunning(identity)) process.kill(identity.pid, 'SIGKILL');
    npm?.kill('SIGKILL');
    await eventually(() => left.every((identity) => !isRunning(identity)));
    rmSync(home, { recursive: true, force: true, maxRetries: 20 });
  });

  it('sends a mail with the printed curl command, shows it on the mail page, and stops all processes on SIGTERM', async () => {
    const stack = await startedStack();
    expect(statSync(file('stack.json')).mode & 0o777).to.equal(0o600);
    expect(statSync(file('credentials.json')).mode & 0o777).to.equal(0o600);
    await eventually(() => output.includes('Ctrl-C ends everything'));
    const [line = ''] = output.split('\n').filter((text) => text.trim().startsWith('curl '));
    const curl = spawn('sh', ['-c', `${line} -sS -o /dev/null -w '%{http_code}'`]);
    const [answer] = (await once(curl.stdout.setEncoding('utf8'), 'data')) as [string];
    expect(answer).to.equal('200');
    const found = await eventually(
      async () => {
        const page = (await (await fetch(`${stack.mailUrl}/api/v1/search?query=to:"you@example.com"`)).json()) as {
          messages: { Subject: string }[];
        };
        return page.messages.length > 0 && page.messages;
      },
      { what: 'the mail' },
    );
    expect(found.map(({ Subject }) => Subject)).to.deep.equal(['Hello']);
    expect((await fetch(stack.temporalUiUrl ?? '')).status).to.equal(200);
    expect(output).to.contain(`${stack.apiUrl}/docs`).and.contain('npx everpost doctor');
    for (const path of ['/docs', '/docs/api']) expect((await fetch(stack.apiUrl + path)).status, path).to.equal(200);

    const all = [...children(), stackProcess()];
    expect(all).to.have.length(6);
    const ended = npm && once(npm, 'exit');
    npm?.kill('SIGTERM');
    await ended;
    await expectAllProcessesEnd(all);
  });

  it('rejects a second start in the same home, stops orphans after a SIGKILL, and ends when a child dies', async () => {
    const first = await startedStack();
    const second = start();
    const [code] = (await once(second, 'exit')) as [number];
    expect(code).to.equal(1);
    expect(output).to.contain('already running');
    expect(existsSync(file('stack.json'))).to.equal(true);

    const orphans = children();
    process.kill(stackProcess().pid, 'SIGKILL');
    await eventually(() => npm?.exitCode !== null || npm?.signalCode !== null);
    expect(orphans.filter(isRunning)).to.have.length(5);
    rmSync(file('stack.json'));
    const again = await startedStack();
    expect(orphans.filter(isRunning)).to.deep.equal([]);
    expect([again.projectId, again.secretKey]).to.deep.equal([first.projectId, first.secretKey]);

    const all = [...children(), stackProcess()];
    const worker = JSON.parse(readFileSync(join(file('run'), 'worker.json'), 'utf8')) as ProcessIdentity;
    const ended = npm && once(npm, 'exit');
    process.kill(worker.pid, 'SIGKILL');
    expect(await ended).to.include(1);
    expect(output).to.contain('the worker has died (killed by SIGKILL)');
    await expectAllProcessesEnd(all);
  });

  it('ends at once at a second Ctrl-C, although a process does not react to the first', async () => {
    await startedStack();
    const all = [...children(), stackProcess()];
    const api = JSON.parse(readFileSync(join(file('run'), 'api.json'), 'utf8')) as ProcessIdentity;
    // A stopped process does not see SIGTERM; a clean shutdown would wait half a minute for it.
    process.kill(api.pid, 'SIGSTOP');
    const pressCtrlC = () => process.kill(-(npm?.pid ?? 0), 'SIGINT');
    pressCtrlC();
    await eventually(() => output.includes('Stopping …'));
    expect(isRunning(api)).to.equal(true);
    // Signals that follow each other closely count as one press, so it is repeated until it is seen.
    await eventually(
      () => {
        if (!output.includes('Ending at once')) pressCtrlC();
        return output.includes('Ending at once');
      },
      { what: 'the second Ctrl-C' },
    );
    await expectAllProcessesEnd(all);
    expect(output).to.contain('Everything has ended.');
  });

  it('says what to do when the data is of another Postgres', async () => {
    mkdirSync(file('postgres'));
    writeFileSync(join(file('postgres'), 'PG_VERSION'), '9\n');
    npm = start();
    const [code] = (await once(npm, 'exit')) as [number];
    expect(code).to.equal(1);
    expect(output).to.contain('is of Postgres 9').and.contain('--fresh').and.contain('npx everpost doctor');
  });
});
