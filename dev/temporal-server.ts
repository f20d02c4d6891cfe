// Finds and starts Temporal's servers.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { type Child, startChild, waitUntilReady } from './child.ts';
import { canConnect } from './ports.ts';

export { findTemporalCli } from './temporal-cli.ts';
export { findTestServer, warmUp } from './temporal-test-server.ts';

export interface DevServerOptions {
  cli: string;
  port: number;
  /** Unset: no web UI. */
  uiPort?: number;
  /** Unset: the server keeps its data in memory. */
  dbFile?: string;
  /** Additional dynamic config, by Temporal's names. */
  config?: Record<string, string>;
  logFile?: string;
  onSpawn?: (child: Child) => void;
  /** Where `/metrics` is served; unset: on a random port. */
  metricsPort?: number;
}

export interface DevServer {
  address: string;
  port: number;
  uiUrl?: string;
  pid: number;
  child: Child;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

const HOST = '127.0.0.1';
const NAMESPACE = 'default';

export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const { cli, port, uiPort } = options;
  const child = await startChild({
    name: 'the Temporal dev server',
    command: cli,
    args: devServerArguments(options),
    logFile: options.logFile ?? join(tmpdir(), `everpost-temporal-${process.pid}-${port}.log`),
    signalOnExit: options.dbFile ? 'SIGTERM' : 'SIGKILL',
    onSpawn: options.onSpawn,
  });
  const address = `${HOST}:${port}`;
  try {
    await waitUntilReady(child, 60_000, async () => (await canConnect(port)) && namespaceIsReady(address));
  } catch (error) {
    await child.kill();
    throw error;
  }
  return {
    address,
    port,
    uiUrl: uiPort ? `http://localhost:${uiPort}` : undefined,
    pid: child.pid,
    child,
    // A server that keeps its data in memory is killed at once.
    stop: async () => void (await child.stop(options.dbFile ? [{ signal: 'SIGTERM', waitMs: 10_000 }] : [])),
    kill: async () => void (await child.kill()),
  };
}

/** Measured on two cores: one partition gives 1.5 times the workflows, WAL nearly 3 times as many with a file. */
function devServerArguments({ port, uiPort, metricsPort, dbFile, config = {} }: DevServerOptions): string[] {
  const ui = uiPort ? ['--ui-port', String(uiPort)] : ['--headless'];
  const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];
  const partitions = ['matching.numTaskqueueReadPartitions=1', 'matching.numTaskqueueWritePartitions=1'];
  return [
    'server',
    'start-dev',
    '--ip',
    HOST,
    '--port',
    String(port),
    '--namespace',
    NAMESPACE,
    '--log-level',
    'warn',
    ...ui,
    ...(metricsPort ? ['--metrics-port', String(metricsPort)] : []),
    ...(dbFile ? ['--db-filename', dbFile, ...pragmas] : []),
    ...[...partitions, ...Object.entries(config).map((entry) => entry.join('='))].flatMap((value) => [
      '--dynamic-config-value',
      value,
    ]),
  ];
}

/**
 * Returns whether the namespace can be used, which is later than the port opens. Call it only once the port is open: gRPC
 * waits a whole second after a refused connection.
 */
async function namespaceIsReady(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    await connection.withDeadline(Date.now() + 2_000, () =>
      connection.workflowService.describeNamespace({ namespace: NAMESPACE }),
    );
    return true;
  } finally {
    await connection.close();
  }
}
