// Two APIs, two workers, Postgres, Temporal with its file, an SMTP server and a receiver of webhooks, each behind a proxy.
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { connectDb, type Db } from '../../db/connect.ts';
import { migrate } from '../../db/migrate.ts';
import { freePort } from '../../dev/ports.ts';
import { type Postgres, startPostgres } from '../../dev/postgres.ts';
import { type DevServer, findTemporalCli, startDevServer } from '../../dev/temporal-server.ts';
import { addManagedDomain } from '../../services/domains/managed.ts';
import { createProject } from '../../services/projects/create.ts';
import { createUser } from '../../services/users/create.ts';
import { atEnd, runDirectory } from '../../test/support/cleanup.ts';
import { eventually } from '../../test/support/waiting.ts';
import { type SinkShares, type SmtpSink, startSmtpSink } from '../smtp-sink.ts';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { type FlakyReceiver, startFlakyReceiver } from '../webhook-receiver.ts';
import { type ProcessName, type ProxyName, processNames } from './plan.ts';
import { Supervised } from './supervised.ts';
import { watchTemporal } from './temporal-watch.ts';

export interface ProofProject {
  id: string;
  secretKey: string;
  publicKey: string;
  senderDomain: string;
}

export interface ProofStack {
  processes: Record<ProcessName, Supervised>;
  proxies: Record<ProxyName, TcpProxy>;
  sink: SmtpSink;
  receiver: FlakyReceiver;
  /** Without a proxy, for the checks. */
  databaseUrl: string;
  temporalAddress: string;
  /** The receiver's address as the stack sees it. */
  webhookUrl: string;
  /** The addresses of both APIs as clients see them. */
  apiUrls: string[];
  project: ProofProject;
  /** Stops at once, as after a crash, and starts again. */
  restartPostgres(downMs: () => Promise<unknown>): Promise<void>;
  restartTemporal(downMs: () => Promise<unknown>): Promise<void>;
  /** How often Temporal's development server had to be started again because it had lost its shard. */
  lostShards(): number;
  /** Starts what has ended by itself. */
  revive(): Promise<void>;
  pids(of: 'postgres' | 'temporal'): number;
  connect(): Db;
}

export interface ProofStackOptions {
  seed: number;
  /** What is reached through its proxy; without it, everything. */
  proxied?: readonly ProxyName[];
  shares?: SinkShares;
  env?: Record<string, string>;
}

/**
 * Temporal comes before our own processes: calls of a server that gets no CPU time out, which would look like a fault. Has
 * no effect where the account may not raise priorities.
 */
function prefer(server: DevServer): DevServer {
  try {
    // On Linux each thread has a priority of its own.
    for (const thread of readdirSync(`/proc/${server.pid}/task`)) setPriority(Number(thread), SERVER_PRIORITY);
  } catch {
    // Needs root and Linux.
  }
  return server;
}

const SERVER_PRIORITY = -5;
const NO_SYNC = { fsync: 'off', full_page_writes: 'off', max_connections: '200' };

export async function startProofStack(options: ProofStackOptions): Promise<ProofStack> {
  const { seed, shares, env: more = {}, proxied } = options;
  const folder = runDirectory();
  const postgresPort = await freePort();
  const runPostgres = () =>
    startPostgres({
      dataDir: join(folder, 'chaos-postgres'),
      port: postgresPort,
      database: 'everpost',
      // A crash of a process loses nothing that the system has taken, so nothing is flushed to disk.
      settings: NO_SYNC,
      logFile: join(folder, 'chaos-postgres.log'),
    });
  let postgres: Postgres = await runPostgres();
  atEnd(() => postgres.stop());
  await migrate(postgres.url);
  const cli = await findTemporalCli(() => {});
  const temporalPort = await freePort();
  const temporalOptions = {
    cli,
    port: temporalPort,
    dbFile: join(folder, 'chaos-temporal.db'),
    logFile: join(folder, 'chaos-temporal.log'),
  };
  const runTemporal = async () => prefer(await startDevServer(temporalOptions));
  let temporal: DevServer = await runTemporal();
  atEnd(() => temporal.kill());
  let lostShards = 0;
  let changing: Promise<unknown> = Promise.resolve();
  /** Two servers must never use one file. */
  const changeTemporal = (change: () => Promise<void>): Promise<void> => {
    const changed = changing.then(change);
    changing = changed.catch(() => {});
    return changed;
  };
  const restartTemporal: ProofStack['restartTemporal'] = (down) =>
    changeTemporal(async () => {
      await temporal.kill();
      await down();
      temporal = await runTemporal();
    });
  const watch = watchTemporal(join(folder, 'chaos-temporal.log'), async () => {
    lostShards++;
    await restartTemporal(async () => {});
  });
  atEnd(() => watch.stop());
  const sink = await startSmtpSink(seed, shares);
  const receiver = await startFlakyReceiver(seed);
  const apiPorts = [await freePort(), await freePort()] as const;
  const proxies: ProofStack['proxies'] = {
    postgres: await startTcpProxy(postgresPort),
    temporal: await startTcpProxy(temporalPort),
    smtp: await startTcpProxy(sink.port),
    webhooks: await startTcpProxy(receiver.port),
    api1: await startTcpProxy(apiPorts[0]),
    api2: await startTcpProxy(apiPorts[1]),
  };
  const databaseUrl = postgres.url;
  const throughProxy = new URL(databaseUrl);
  const portOf = (name: ProxyName, direct: number) =>
    !proxied || proxied.includes(name) ? proxies[name].port : direct;
  throughProxy.port = String(portOf('postgres', postgresPort));
  const webhookHost = `127.0.0.1:${portOf('webhooks', receiver.port)}`;
  const env = {
    DATABASE_URL: throughProxy.href,
    TEMPORAL_ADDRESS: `127.0.0.1:${portOf('temporal', temporalPort)}`,
    SMTP_URL: `smtp://127.0.0.1:${portOf('smtp', sink.port)}`,
    WEBHOOK_ALLOWED_HOSTS: webhookHost,
    // Nothing answers there: the recipients' domains do not exist, and forms must not refuse them.
    DNS_SERVERS: '127.0.0.1:9',
    BASE_URL: `http://127.0.0.1:${portOf('api1', apiPorts[0])}`,
    EVERPOST_HOME: join(folder, 'home'),
    RATE_LIMIT_PER_MINUTE: '0',
    AUTO_PROJECT_DISABLE: 'false',
    CAMPAIGN_MAX_BOUNCE_RATE: '1',
    ...more,
  };
  const db = connectDb({ databaseUrl, poolSize: 2, name: 'proof-setup' });
  const project = await makeProofProject(db, 'proof.example').finally(() => db.destroy());
  const supervised = (name: ProcessName, file: string, port: number) => new Supervised({ name, file, port, env });
  const processes: ProofStack['processes'] = {
    api1: supervised('api1', 'api/server.js', apiPorts[0]),
    api2: supervised('api2', 'api/server.js', apiPorts[1]),
    worker1: supervised('worker1', 'worker/main.js', await freePort()),
    worker2: supervised('worker2', 'worker/main.js', await freePort()),
  };
  await Promise.all(processNames.map((name) => processes[name].start()));
  for (const name of processNames)
    await eventually(() => processes[name].isReady(), { timeoutMs: 180_000, what: `${name}, ready` });
  return {
    processes,
    proxies,
    sink,
    receiver,
    databaseUrl,
    temporalAddress: temporal.address,
    webhookUrl: `http://${webhookHost}`,
    apiUrls: [portOf('api1', apiPorts[0]), portOf('api2', apiPorts[1])].map((port) => `http://127.0.0.1:${port}`),
    project,
    restartPostgres: async (down) => {
      await postgres.child.stop([{ signal: 'SIGQUIT', waitMs: 10_000 }]);
      await down();
      postgres = await runPostgres();
    },
    restartTemporal,
    lostShards: () => lostShards,
    revive: async () => {
      if (postgres.child.hasExited()) postgres = await runPostgres();
      await changeTemporal(async () => {
        if (temporal.child.hasExited()) temporal = await runTemporal();
      });
    },
    pids: (of) => (of === 'postgres' ? postgres.pid : temporal.pid),
    connect: () => connectDb({ databaseUrl, poolSize: 4, name: 'proof' }),
  };
}

/** The header of a call that is made with the public key. */
export const publicKeyOf = ({ project }: ProofStack) => ({ authorization: `Bearer ${project.publicKey}` });

export async function makeProofProject(db: Db, senderDomain: string): Promise<ProofProject> {
  const owner = await createUser(db, { email: `owner@${senderDomain}`, password: 'correct horse battery' });
  const { project, publicKey, secretKey } = await createProject(db, { name: senderDomain, ownerId: owner.id });
  await addManagedDomain(db, project.id, senderDomain);
  return { id: project.id, publicKey, secretKey, senderDomain };
}
