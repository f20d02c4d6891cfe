// The one door to Temporal's servers: finds each, says which way it took, and starts the dev server.
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
  /** Without it there is no Web UI. */
  uiPort?: number;
  /** Without it the server keeps everything in memory. */
  dbFile?: string;
  /** Dynamic config beside ours, as Temporal names it. */
  config?: Record<string, string>;
  logFile?: string;
  onSpawn?: (child: Child) => void;
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
    await waitUntilReady(child, 60_000, async () => (await canConnect(port)) && answers(address));
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
    // What is only in memory needs no farewell.
    stop: async () => void (await child.stop(options.dbFile ? [{ signal: 'SIGTERM', waitMs: 10_000 }] : [])),
    kill: async () => void (await child.kill()),
  };
}

/** Measured on two cores: one partition gives half as many workflows again, WAL nearly three times as many on a file. */
function devServerArguments({ port, uiPort, dbFile, config = {} }: DevServerOptions): string[] {
  const ui = uiPort ? ['--ui-port', String(uiPort)] : ['--headless'];
  const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];
  const partitions = ['matching.numTaskqueueReadPartitions=1', 'matching.numTaskqueueWritePartitions=1'];
  return [
    ...['server', 'start-dev', '--ip', HOST, '--port', String(port), '--namespace', NAMESPACE, '--log-level', 'warn'],
    ...ui,
    ...(dbFile ? ['--db-filename', dbFile, ...pragmas] : []),
    ...[...partitions, ...Object.entries(config).map((entry) => entry.join('='))].flatMap((value) => [
      '--dynamic-config-value',
      value,
    ]),
  ];
}

/**
 * The port opens before the namespace can be used; only the latter means ready. To be asked once the port is open:
 * gRPC waits a whole second after a refused connection.
 */
async function answers(address: string): Promise<boolean> {
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
