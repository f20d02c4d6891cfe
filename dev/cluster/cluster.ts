// The whole platform as in production, on one machine: two Temporal nodes, two APIs and two workers behind balancers.
import { join } from 'node:path';
import { migrate } from '../../db/migrate.ts';
import { type Child, startChild, waitUntilReady } from '../child.ts';
import { freePort } from '../ports.ts';
import { type Postgres, startPostgres } from '../postgres.ts';
import type { ReportProgress } from '../report.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { findTemporalServer } from './temporal-binaries.ts';
import { createNamespace, prepareDatabases, type TemporalNode, temporalNode } from './temporal-node.ts';

/** A process of the cluster, which may be stopped and started again on the same port. */
export interface ClusterProcess {
  name: string;
  port: number;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface Cluster {
  apiUrl: string;
  databaseUrl: string;
  temporalAddress: string;
  env: NodeJS.ProcessEnv;
  nodes: TemporalNode[];
  apis: ClusterProcess[];
  workers: ClusterProcess[];
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** For data, configuration and logs. */
  dir: string;
  /** A compiled program, as `npm run build` makes it. */
  program: string;
  smtpUrl: string;
  env?: NodeJS.ProcessEnv;
  apiPort?: number;
  report: ReportProgress;
}

const COUNT = 2;
const NAMESPACE = 'everpost';
/** docs/operations.md#connections has the sum: 2 * 60 of Temporal, 2 * 11 of APIs, 2 * 17 of workers, and some to spare. */
const MAX_CONNECTIONS = 200;
const POOL_SIZE = 10;
const STEPS = [{ signal: 'SIGTERM' as const, waitMs: 70_000 }];

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { dir, report } = options;
  const binaries = await findTemporalServer(report);
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (let next = stops.pop(); next; next = stops.pop()) await next();
  };
  try {
    const postgres = await startDatabase(dir);
    stops.push(() => postgres.stop());
    report('Temporal: creating its databases, starting two nodes …');
    await prepareDatabases(binaries, postgres.url, dir);
    const nodes = await Promise.all(
      range(COUNT).map((n) => temporalNode({ binaries, postgresUrl: postgres.url, dir, name: `temporal-${n}` })),
    );
    stops.push(async () => void (await Promise.all(nodes.map((node) => node.kill()))));
    // One after the other: the first one creates the cluster's metadata.
    for (const node of nodes) await node.start();
    const temporal = await balance(nodes, stops);
    const temporalAddress = `127.0.0.1:${temporal.port}`;
    await createNamespace(temporalAddress, NAMESPACE);
    await migrate(postgres.url);
    return { ...(await startProcesses(options, postgres, temporalAddress, stops)), nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

async function startDatabase(dir: string): Promise<Postgres> {
  return startPostgres({
    dataDir: join(dir, 'postgres'),
    port: await freePort(),
    database: 'everpost',
    settings: { max_connections: String(MAX_CONNECTIONS) },
    logFile: join(dir, 'postgres.log'),
  });
}

async function balance(members: { port: number }[], stops: (() => Promise<void>)[], port = 0): Promise<Balancer> {
  const balancer = await startBalancer(
    members.map((member) => member.port),
    port,
  );
  stops.push(() => balancer.stop());
  return balancer;
}

async function startProcesses(
  { dir, program, smtpUrl, env: more, apiPort, report }: ClusterOptions,
  postgres: Postgres,
  temporalAddress: string,
  stops: (() => Promise<void>)[],
) {
  report('Starting two APIs and two workers …');
  const apis = await Promise.all(range(COUNT).map(async (n) => ({ name: `api-${n}`, port: await freePort() })));
  const balancer = await balance(apis, stops, apiPort);
  const env = {
    SECRET_KEY: 'a secret key of the cluster on this machine',
    BASE_URL: `http://localhost:${balancer.port}`,
    UPLOADS_DIR: join(dir, 'uploads'),
    ...more,
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    DATABASE_URL: postgres.url,
    DATABASE_POOL_SIZE: String(POOL_SIZE),
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_NAMESPACE: NAMESPACE,
    SMTP_URL: smtpUrl,
  };
  const processes = {
    apis: apis.map(({ name, port }) =>
      member({ name, port, dir, file: join(program, 'api/server.js'), env: { ...env, PORT: String(port) } }),
    ),
    workers: await Promise.all(
      range(COUNT).map(async (n) => {
        const port = await freePort();
        const file = join(program, 'worker/main.js');
        return member({ name: `worker-${n}`, port, dir, file, env: { ...env, WORKER_PORT: String(port) } });
      }),
    ),
  };
  const all = [...processes.apis, ...processes.workers];
  stops.push(async () => void (await Promise.all(all.map((one) => one.stop()))));
  await Promise.all(all.map((one) => one.start()));
  return { ...processes, apiUrl: `http://127.0.0.1:${balancer.port}`, databaseUrl: postgres.url, temporalAddress, env };
}

interface MemberOptions {
  name: string;
  port: number;
  dir: string;
  file: string;
  env: NodeJS.ProcessEnv;
}

function member({ name, port, dir, file, env }: MemberOptions): ClusterProcess {
  let child: Child | undefined;
  return {
    name,
    port,
    start: async () => {
      child = await startChild({
        name,
        command: process.execPath,
        args: [file],
        cwd: dir,
        env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
        logFile: join(dir, `${name}.log`),
      });
      await waitUntilReady(child, 120_000, async () => (await fetch(`http://127.0.0.1:${port}/ready`)).ok);
    },
    stop: async () => void (await child?.stop(STEPS)),
    kill: async () => void (await child?.kill()),
  };
}
