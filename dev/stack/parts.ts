// The five parts of the stack, each with its own start.
import { join, resolve } from 'node:path';
import { type Child, type ChildOptions, startChild, waitUntilReady } from '../child.ts';
import { startPostgres } from '../postgres.ts';
import type { Report } from '../report.ts';
import { findTemporalCli, startDevServer } from '../temporal-server.ts';
import type { Home } from './home.ts';
import type { Family } from './process-group.ts';
import type { PartName } from './shutdown.ts';

export interface Ports {
  api: number;
  worker: number;
  postgres: number;
  temporal: number;
  temporalUi: number;
  smtp: number;
  mail: number;
}

export interface Ground {
  home: Home;
  family: Family;
  ports: Ports;
}

const root = resolve(import.meta.dirname, '../..');

export async function postgresPart({ home, family, ports }: Ground): Promise<string> {
  const { url } = await startPostgres({
    dataDir: home.file('postgres'),
    port: ports.postgres,
    database: 'everpost',
    logFile: home.logFile('postgres'),
    onSpawn: (child) => family.adopt('postgres', child),
  });
  family.watch('postgres');
  return url;
}

/** Found before anything is started: a first build takes minutes, in which nothing else has to wait. */
export async function temporalPart(
  { home, family, ports }: Ground,
  cli: string,
): Promise<{ address: string; uiUrl?: string }> {
  const server = await startDevServer({
    cli,
    port: ports.temporal,
    uiPort: ports.temporalUi,
    dbFile: join(home.room('temporal'), 'temporal.db'),
    logFile: home.logFile('temporal'),
    onSpawn: (child) => family.adopt('temporal', child),
  });
  family.watch('temporal');
  return server;
}

export const findTemporal = (report: Report): Promise<string> => findTemporalCli(report);

export async function mailPart(ground: Ground): Promise<{ smtpUrl: string; mailUrl: string }> {
  const { home, ports } = ground;
  const args = ['dev/mail-catcher/main.ts', home.room('mail'), String(ports.smtp), String(ports.mail)];
  await nodePart(ground, 'mail', 'the mail catcher', args, process.env, `http://127.0.0.1:${ports.mail}/readyz`);
  return { smtpUrl: `smtp://127.0.0.1:${ports.smtp}`, mailUrl: `http://localhost:${ports.mail}` };
}

export const apiPart = (ground: Ground, env: NodeJS.ProcessEnv): Promise<void> =>
  nodePart(ground, 'api', 'the API', ['api/server.ts'], env, `http://127.0.0.1:${ground.ports.api}/ready`);

export const workerPart = (ground: Ground, env: NodeJS.ProcessEnv): Promise<void> =>
  nodePart(ground, 'worker', 'the worker', ['worker/main.ts'], env, `http://127.0.0.1:${ground.ports.worker}/ready`);

async function nodePart(
  { home, family }: Ground,
  part: PartName,
  name: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  readyUrl: string,
): Promise<void> {
  const options: ChildOptions = {
    name,
    command: process.execPath,
    args: ['--import', 'tsx', ...args],
    cwd: root,
    env,
    logFile: home.logFile(part),
    onSpawn: (child: Child) => family.adopt(part, child),
  };
  const child = await startChild(options);
  await waitUntilReady(child, 120_000, async () => (await fetch(readyUrl)).ok);
  family.watch(part);
}
