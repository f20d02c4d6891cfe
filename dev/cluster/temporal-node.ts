// One node of a Temporal cluster: all four services in one process, on databases of Postgres that all nodes share.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import { stringify } from 'yaml';
import { type Child, startChild, waitUntilReady } from '../child.ts';
import { canConnect, portOrFree } from '../ports.ts';
import { root } from '../root.ts';
import { execute } from '../run.ts';
import type { TemporalBinaries } from './temporal-binaries.ts';

const SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;
type Service = (typeof SERVICES)[number];
export const DATABASES = { default: 'temporal', visibility: 'temporal_visibility' };

/** Of each service to each database, so a node has up to `4 * (10 + 5)` connections. */
export const NODE_CONNECTIONS = { default: 10, visibility: 5 };
const HOST = '127.0.0.1';
/** Cannot be changed later. Enough for some dozens of nodes. */
const HISTORY_SHARDS = 64;

const script = resolve(root, 'ops/compose/temporal-schema.sh');

/** Creates both databases and brings their schema up to date, with the script of docker-compose.yml. */
export async function prepareDatabases({ sqlTool }: TemporalBinaries, postgresUrl: string, dir: string): Promise<void> {
  const { hostname, port, username, password } = new URL(postgresUrl);
  const bin = join(dir, 'bin');
  mkdirSync(bin, { recursive: true });
  const tool = join(bin, 'temporal-sql-tool');
  if (!existsSync(tool)) symlinkSync(sqlTool, tool);
  await execute('sh', [script], {
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      POSTGRES_SEEDS: hostname,
      DB_PORT: port,
      POSTGRES_USER: username,
      SQL_PASSWORD: decodeURIComponent(password),
    },
  });
}

export interface TemporalNodeOptions {
  binaries: TemporalBinaries;
  postgresUrl: string;
  /** For its configuration and log. */
  dir: string;
  name: string;
}

export interface TemporalNode {
  name: string;
  /** Of its frontend. */
  port: number;
  start(): Promise<void>;
  /** SIGTERM: its shards move to the other nodes. */
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export async function temporalNode(options: TemporalNodeOptions): Promise<TemporalNode> {
  const { dir, name, binaries } = options;
  const configDir = join(dir, name);
  mkdirSync(configDir, { recursive: true });
  const ports = {} as Record<Service, { grpc: number; membership: number }>;
  for (const service of SERVICES) ports[service] = { grpc: await lowPort(), membership: await lowPort() };
  writeFileSync(join(configDir, 'dynamic.yaml'), stringify(dynamicConfig), { mode: 0o600 });
  writeFileSync(join(configDir, 'node.yaml'), stringify(configuration(options, ports, configDir)), { mode: 0o600 });
  const { grpc: port } = ports.frontend;
  let child: Child | undefined;
  return {
    name,
    port,
    start: async () => {
      child = await startChild({
        name: `Temporal ${name}`,
        command: binaries.server,
        args: ['--root', dir, '--config', name, '--env', 'node', '--allow-no-auth', 'start'],
        logFile: join(dir, `${name}.log`),
      });
      await waitUntilReady(child, 90_000, async () => (await canConnect(port)) && isServing(port));
    },
    stop: async () => void (await child?.stop([{ signal: 'SIGTERM', waitMs: 20_000 }])),
    kill: async () => void (await child?.kill()),
  };
}

/** Temporal's schema stores ports as `smallint`. */
async function lowPort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    if ((await portOrFree('Temporal', port, () => {})) === port) return port;
  }
}

/** One partition per task queue: on a single machine more only cost. */
const dynamicConfig = {
  'matching.numTaskqueueReadPartitions': [{ value: 1 }],
  'matching.numTaskqueueWritePartitions': [{ value: 1 }],
  'system.forceSearchAttributesCacheRefreshOnRead': [{ value: true }],
};

function configuration(
  { postgresUrl }: TemporalNodeOptions,
  ports: Record<Service, { grpc: number; membership: number }>,
  configDir: string,
): object {
  const { host, username, password } = new URL(postgresUrl);
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: host,
      connectProtocol: 'tcp',
      user: username,
      password: decodeURIComponent(password),
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: HISTORY_SHARDS,
      datastores: {
        default: store(DATABASES.default, NODE_CONNECTIONS.default),
        visibility: store(DATABASES.visibility, NODE_CONNECTIONS.visibility),
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: HOST } },
    services: Object.fromEntries(
      SERVICES.map((service) => [
        service,
        { rpc: { grpcPort: ports[service].grpc, membershipPort: ports[service].membership, bindOnLocalHost: true } },
      ]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `${HOST}:${ports.frontend.grpc}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: join(configDir, 'dynamic.yaml'), pollInterval: '60s' },
  };
}

/** Whether the frontend finds history and matching too. */
async function isServing(port: number): Promise<boolean> {
  const connection = await Connection.connect({ address: `${HOST}:${port}`, connectTimeout: 2_000 });
  try {
    await connection.withDeadline(Date.now() + 2_000, () => connection.workflowService.listNamespaces({ pageSize: 1 }));
    return true;
  } finally {
    await connection.close();
  }
}

/** Creates a namespace where it does not exist, and waits until all nodes know it. */
export async function createNamespace(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService
      .registerNamespace({ namespace, workflowExecutionRetentionPeriod: { seconds: (3 * 86_400) as never } })
      .catch((error: { code?: number }) => {
        if (error.code !== ALREADY_EXISTS) throw error;
      });
    const deadline = Date.now() + 60_000;
    for (;;) {
      try {
        // Answered by history, whose cache of namespaces is refreshed every few seconds.
        await connection.workflowService.listOpenWorkflowExecutions({ namespace, maximumPageSize: 1 });
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    }
  } finally {
    await connection.close();
  }
}

const ALREADY_EXISTS = 6;
