// Starts the stack of a checkout as in production: compiled, with default settings, every part in a process of its own.
import { execFileSync, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startChild, waitUntilReady } from '../dev/child.ts';
import { freePort } from '../dev/ports.ts';
import { type Postgres, startPostgres } from '../dev/postgres.ts';
import { root } from '../dev/root.ts';
import { findTemporalCli, startDevServer } from '../dev/temporal-server.ts';
import { settingsSchema } from '../platform/settings.ts';
import { atEnd, runDirectory } from '../test/support/cleanup.ts';
import { newsletterTemplate } from './newsletter.ts';
import { type Sink, startSink } from './sink.ts';
import type { SetupAnswer, SetupOrder, SetupProject } from './whole-setup.ts';

export interface WholeTarget {
  /** Where `/v1/send` is. */
  url: string;
  key: string;
  sink: Sink;
  /** The request for one mail. */
  body(n: number): unknown;
  /** The processes that are measured, by name. */
  pids: Record<string, number>;
}

export interface Stack extends WholeTarget {
  publicKey: string;
  /** The verified domain of the project that `key` belongs to. */
  senderDomain: string;
  campaigns: SetupProject;
  /** Prometheus metrics of the Temporal server. */
  temporalMetrics: string;
}

/** Signing is on by default. `BENCH_DKIM=false` turns it off in ours, `BENCH_DKIM=both` turns it on in the baseline too. */
const DKIM = process.env.BENCH_DKIM ?? 'default';

/** Starts API and worker in processes of their own, or both in one by `everpost serve`. */
export async function startWhole(
  name: string,
  checkout: string,
  contacts: number,
  { serve = false } = {},
): Promise<Stack> {
  buildOnce(checkout);
  const folder = join(runDirectory(), `whole-${name}`);
  mkdirSync(folder, { recursive: true });
  const postgres = await startDatabase(name);
  const temporal = await startTemporal(folder);
  const sink = await startSink();
  const ports = { api: await freePort(), worker: await freePort() };
  const env = {
    ...withoutSettings(),
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    SECRET_KEY: randomBytes(32).toString('hex'),
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    SMTP_URL: sink.url,
    PORT: String(ports.api),
    WORKER_PORT: String(ports.worker),
    BASE_URL: `http://127.0.0.1:${ports.api}`,
    EVERPOST_HOME: folder,
    // High, not off: counting is part of the cost.
    RATE_LIMIT_PER_MINUTE: '1000000000',
    ...(DKIM === 'false' && { DKIM_SIGNING: 'false' }),
  };
  execFileSync(process.execPath, ['dist/db/migrate.js'], {
    cwd: checkout,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { sending, campaigns } = await setUp(checkout, env, { databaseUrl: postgres.url, folder, contacts });
  const isReady = async (part: 'api' | 'worker') => (await fetch(`http://127.0.0.1:${ports[part]}/ready`)).ok;
  const start = async (part: string, args: string[], ready: () => Promise<boolean>): Promise<number> => {
    const child = await startChild({
      name: `${part} of ${name}`,
      command: process.execPath,
      args,
      cwd: checkout,
      env,
      logFile: join(folder, `${part}.log`),
    });
    atEnd(async () => void (await child.kill()));
    await waitUntilReady(child, 60_000, ready);
    return child.pid;
  };
  const both = async () => (await isReady('api')) && (await isReady('worker'));
  const processes: Record<string, number> = serve
    ? { serve: await start('serve', ['dist/cli/main.js', 'serve'], both) }
    : {
        api: await start('api', ['dist/api/server.js'], () => isReady('api')),
        worker: await start('worker', ['dist/worker/main.js'], () => isReady('worker')),
      };
  const url = `http://127.0.0.1:${ports.api}`;
  const template = await createTemplate(url, sending);
  return {
    url,
    key: sending.secretKey,
    publicKey: sending.publicKey,
    senderDomain: sending.senderDomain,
    sink,
    campaigns,
    temporalMetrics: temporal.metrics,
    body: (n) => ({ to: recipient(n), template, data: { name: `Ann ${n}` } }),
    pids: { ...processes, temporal: temporal.pid, postgres: postgres.pid },
  };
}

const built = new Set<string>();

function buildOnce(checkout: string): void {
  if (built.has(checkout)) return;
  built.add(checkout);
  execFileSync(process.execPath, ['dev/bootstrap.mjs', 'dev/build.ts'], {
    cwd: checkout,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Starts the bare baseline, with a Postgres of its own. */
export async function startBareMailer(dkimKey: string): Promise<WholeTarget> {
  const postgres = await startDatabase('bare');
  const sink = await startSink();
  const port = await freePort();
  const child = await startChild({
    name: 'bare mailer',
    command: process.execPath,
    args: ['--import', 'tsx', join(root, 'bench/bare-mailer.ts')],
    env: {
      ...withoutSettings(),
      NODE_ENV: 'production',
      DATABASE_URL: postgres.url,
      SMTP: sink.url,
      PORT: String(port),
      DKIM_KEY: DKIM === 'both' ? dkimKey : '',
    },
    logFile: join(runDirectory(), 'bare-mailer.log'),
  });
  atEnd(async () => void (await child.kill()));
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(child, 30_000, async () => (await fetch(url)).status === 404);
  return {
    url,
    key: 'none',
    sink,
    body: (n) => ({ to: recipient(n), data: { name: `Ann ${n}` } }),
    pids: { server: child.pid, postgres: postgres.pid },
  };
}

const CONTACTS = 10_000;
/** One recipient domain never gets all connections, so there are several. */
export const trackedEvent = (n: number) => ({
  email: recipient(n),
  event: 'viewed',
  data: { page: `/pages/${n % 100}` },
});
const recipient = (n: number): string => `user${n % CONTACTS}@d${n % 20}.example.com`;

async function startDatabase(name: string): Promise<Postgres> {
  const postgres = await startPostgres({
    dataDir: join(runDirectory(), `whole-${name}-postgres`),
    port: await freePort(),
    database: 'everpost',
    logFile: join(runDirectory(), `whole-${name}-postgres.log`),
  });
  atEnd(() => postgres.stop());
  return postgres;
}

/** With its data in a file, as `npm start` runs it. */
async function startTemporal(folder: string) {
  const metricsPort = await freePort();
  const temporal = await startDevServer({
    cli: await findTemporalCli(() => {}),
    metricsPort,
    port: await freePort(),
    uiPort: await freePort(),
    dbFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
  });
  atEnd(() => temporal.kill());
  return { ...temporal, metrics: `http://127.0.0.1:${metricsPort}/metrics` };
}

/** Runs in the checkout, because its modules know its tables. */
async function setUp(checkout: string, env: NodeJS.ProcessEnv, order: SetupOrder): Promise<SetupAnswer> {
  const child = fork(join(checkout, 'bench', 'whole-setup.ts'), [], {
    cwd: checkout,
    execArgv: ['--import', 'tsx'],
    env,
  });
  child.send(order);
  const failed = once(child, 'exit').then(() => {
    throw new Error(`${checkout}: cannot set up the projects (see above)`);
  });
  failed.catch(() => {});
  const [answer] = (await Promise.race([once(child, 'message'), failed])) as [SetupAnswer];
  return answer;
}

async function createTemplate(url: string, { secretKey, senderDomain }: SetupProject): Promise<string> {
  const body = {
    name: 'News',
    subject: 'News',
    body: newsletterTemplate,
    type: 'TRANSACTIONAL',
    from: `news@${senderDomain}`,
  };
  return (await call<{ id: string }>(url, secretKey, 'POST', '/templates', body)).id;
}

/** Sends a campaign of five kilobytes to all contacts of the project with contacts. */
export async function sendNewsletter({ url, campaigns: { secretKey, senderDomain } }: Stack): Promise<string> {
  const { id } = await call<{ id: string }>(url, secretKey, 'POST', '/campaigns', {
    name: 'Spring',
    subject: 'News',
    body: newsletterTemplate,
    audienceType: 'ALL',
    type: 'HEADLESS',
    from: `news@${senderDomain}`,
  });
  await call(url, secretKey, 'POST', `/campaigns/${id}/send`, {});
  return id;
}

/** Calls the API and returns the answered object, wrapped in `data` or not. */
export async function call<T>(url: string, key: string, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  const parsed = JSON.parse(text);
  // A page of a list also has a `total`.
  return 'total' in parsed ? parsed : (parsed.data ?? parsed);
}

const withoutSettings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !(name in settingsSchema)));
