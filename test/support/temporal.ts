import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { freePort } from '../../dev/ports.ts';
import { toStderr } from '../../dev/report.ts';
import { findTemporalCli, findTestServer, startDevServer, warmUp } from '../../dev/temporal-server.ts';
import { atEnd, atEndOfRun, once, runDirectory } from './cleanup.ts';
import { isRunnerChild, sharedServer } from './runner.ts';

const cli = once(() => findTemporalCli(reportProgress));
const testServer = once(() => findTestServer(reportProgress));

// `npm test` has reported where the servers come from; with mocha alone only progress is reported.
function reportProgress(line: string): void {
  if (!line.startsWith('Temporal ')) toStderr(line);
}

/** The full server, in memory, shared by all test files of a run. Tests must not stop it. */
export const devServer = once(async (): Promise<{ address: string }> => {
  if (isRunnerChild) return { address: await sharedServer('temporal') };
  const server = await startDevServer({
    cli: await cli(),
    port: await freePort(),
    logFile: join(runDirectory(), 'temporal.log'),
  });
  atEndOfRun(() => server.stop());
  return server;
});

/** A full server for a test that stops or kills it. `start` restarts it on the same port with the same data. */
export interface OwnDevServer {
  address: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export async function ownDevServer(
  options: { dbFile?: string; config?: Record<string, string> } = {},
): Promise<OwnDevServer> {
  const name = `temporal-${randomUUID()}`;
  const port = await freePort();
  const dbFile = options.dbFile ?? join(runDirectory(), `${name}.db`);
  const logFile = join(runDirectory(), `${name}.log`);
  const startServer = async () => startDevServer({ cli: await cli(), port, dbFile, logFile, config: options.config });
  let current = await startServer();
  atEnd(() => current.kill());
  return {
    address: current.address,
    start: async () => {
      if (current.child.hasExited()) current = await startServer();
    },
    stop: () => current.stop(),
    kill: () => current.kill(),
  };
}

/** Starts a time-skipping server: one clock per environment, so one environment per test file. Call `teardown` in `after`. */
export async function timeSkipping(): Promise<TestWorkflowEnvironment> {
  const path = await testServer();
  const create = () =>
    TestWorkflowEnvironment.createTimeSkipping({ server: { executable: { type: 'existing-path', path } } });
  for (let triesLeft = 20; ; triesLeft--) {
    try {
      return await create();
    } catch (error) {
      if (triesLeft === 0) throw error;
      // The SDK waits five seconds. A cold start on a busy machine takes longer; a later one is faster.
      await warmUp(path);
    }
  }
}
