// Starts the five parts of the stack.
import { join } from 'node:path';
import { sourceExtension } from '../../platform/process-flags.ts';
import { type Child, type ChildOptions, startChild, waitUntilReady } from '../child.ts';
import { startPostgres } from '../postgres.ts';
import type { ReportProgress } from '../report.ts';
import { stackFolder } from '../root.ts';
import { findTemporalCli, startDevServer } from '../temporal-server.ts';
import type { Home } from './home.ts';
import type { ProcessGroup } from './process-group.ts';
import type { PartName } from './shutdown.ts';

export interface Ports {
  api: number;
  worker: number;
  postgres: number;
  temporal: number;
  temporalUi: number;
  smtp: number;
  mail: number;
  /** Of the worker, for bounces and complaints. */
  returnedMail: number;
}

export interface StackContext {
  home: Home;
  processGroup: ProcessGroup;
  ports: Ports;
}

export async function postgresPart({ home, processGroup, ports }: StackContext): Promise<string> {
  const { url } = await startPostgres({
    dataDir: home.file('postgres'),
    port: ports.postgres,
    database: 'everpost',
    logFile: home.logFile('postgres'),
    onSpawn: (child) => processGroup.add('postgres', child),
  });
  processGroup.watch('postgres');
  return url;
}

/** `cli` is found before anything is started, because a first build takes minutes. */
export async function temporalPart(
  { home, processGroup, ports }: StackContext,
  cli: string,
): Promise<{ address: string; uiUrl?: string }> {
  const server = await startDevServer({
    cli,
    port: ports.temporal,
    uiPort: ports.temporalUi,
    dbFile: join(home.directory('temporal'), 'temporal.db'),
    logFile: home.logFile('temporal'),
    onSpawn: (child) => processGroup.add('temporal', child),
  });
  processGroup.watch('temporal');
  return server;
}

export const findTemporal = (report: ReportProgress): Promise<string> => findTemporalCli(report);

export async function mailPart(context: StackContext): Promise<{ smtpUrl: string; mailUrl: string }> {
  const { home, ports } = context;
  const args = [
    ...(sourceExtension === '.ts' ? ['--import', import.meta.resolve('tsx')] : []),
    join(import.meta.dirname, `../mail-catcher/main${sourceExtension}`),
    home.directory('mail'),
    String(ports.smtp),
    String(ports.mail),
    String(ports.returnedMail),
  ];
  await nodePart(context, 'mail', 'the mail catcher', args, process.env, `http://127.0.0.1:${ports.mail}/readyz`);
  return { smtpUrl: `smtp://127.0.0.1:${ports.smtp}`, mailUrl: `http://localhost:${ports.mail}` };
}

/** `program` is the directory of the compiled program, which starts in a fraction of the time. */
export const apiPart = (context: StackContext, program: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const args = ['--enable-source-maps', join(program, 'api/server.js')];
  return nodePart(context, 'api', 'the API', args, env, `http://127.0.0.1:${context.ports.api}/ready`);
};

export const workerPart = (context: StackContext, program: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const args = ['--enable-source-maps', join(program, 'worker/main.js')];
  return nodePart(context, 'worker', 'the worker', args, env, `http://127.0.0.1:${context.ports.worker}/ready`);
};

async function nodePart(
  { home, processGroup }: StackContext,
  part: PartName,
  name: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  readyUrl: string,
): Promise<void> {
  const options: ChildOptions = {
    name,
    command: process.execPath,
    args,
    cwd: stackFolder,
    env,
    logFile: home.logFile(part),
    onSpawn: (child: Child) => processGroup.add(part, child),
  };
  const child = await startChild(options);
  await waitUntilReady(child, 120_000, async () => (await fetch(readyUrl)).ok);
  processGroup.watch(part);
}
