// Runs the API and the worker as separate processes, as in production, which a test may kill.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, type ProcessExit, startChild, waitUntilReady } from '../../dev/child.ts';
import { freePort } from '../../dev/ports.ts';
import { compiledProgram } from '../../dev/program.ts';
import { root } from '../../dev/root.ts';
import { settingsSchema } from '../../platform/settings.ts';
import type { WorkerRole } from '../../worker/roles.ts';
import { atEnd, runDirectory } from './cleanup.ts';
import { eventually } from './waiting.ts';

export type Env = Record<string, string | undefined>;

export interface ServiceProcess {
  url: string;
  port: number;
  pid: number;
  exited: Promise<ProcessExit>;
  logs(): string;
  /** Sends SIGTERM and waits until the process has finished its work. */
  stop(): Promise<ProcessExit>;
  kill(): Promise<ProcessExit>;
  /** For SIGSTOP and SIGCONT, which pause a process. */
  signal(signal: NodeJS.Signals): void;
}
const READY_WITHIN_MS = 180_000;
const SHUTDOWN_STEPS = [{ signal: 'SIGTERM' as const, waitMs: 60_000 }];

/**
 * Resolves when `GET /ready` returns 200. Runs until it is stopped or killed, or the tests end. `program` is a compiled
 * program other than the present one.
 */
export async function startApi(env: Env, program?: string): Promise<ServiceProcess> {
  const api = await spawnApi(env, program);
  await api.ready();
  return api;
}

/** For an API that is not ready for a while. */
export async function spawnApi(env: Env, program?: string): Promise<ServiceProcess & { ready(): Promise<void> }> {
  const port = env.PORT ? Number(env.PORT) : await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const api = { name: 'api', file: 'api/server.js', program };
  return spawnService(api, port, { BASE_URL: baseUrl, ...env, PORT: String(port) });
}

/** Has all roles, unless some are named. */
export async function startWorker(env: Env, roles: WorkerRole[] = [], program?: string): Promise<ServiceProcess> {
  const worker = await spawnWorker(env, roles, program);
  await worker.ready();
  return worker;
}

/** For a worker that may end before it is ready. */
export async function spawnWorker(
  env: Env,
  roles: WorkerRole[] = [],
  program?: string,
): Promise<ServiceProcess & { ready(): Promise<void> }> {
  const port = env.WORKER_PORT ? Number(env.WORKER_PORT) : await freePort();
  const worker = { name: 'worker', file: 'worker/main.js', program };
  return spawnService(worker, port, { ...env, WORKER_PORT: String(port) }, [
    ...(roles.length > 0 ? ['--roles', roles.join(',')] : []),
  ]);
}

/** API and worker in one process. */
export async function startServe(env: Env): Promise<ServiceProcess> {
  const [port, workerPort] = [await freePort(), await freePort()];
  const serve = { name: 'serve', file: 'cli/main.js', program: undefined };
  const own = { BASE_URL: `http://127.0.0.1:${port}`, ...env, PORT: String(port), WORKER_PORT: String(workerPort) };
  const service = await spawnService(serve, port, own, ['serve']);
  await service.ready();
  await eventually(async () => (await fetch(`http://127.0.0.1:${workerPort}/ready`)).ok, { what: 'a ready worker' });
  return service;
}

interface Service {
  name: string;
  /** The entry file in the compiled program. */
  file: string;
  program: string | undefined;
}

async function spawnService({ name, file, program }: Service, port: number, env: Env, args: string[] = []) {
  const child = await startChild({
    name,
    command: process.execPath,
    args: [join(program ?? (await compiledProgram()), file), ...args],
    cwd: root,
    env: { ...withoutSettings(process.env), NODE_ENV: 'test', HOST: '127.0.0.1', ...env },
    logFile: join(runDirectory(), `${name}-${randomUUID()}.log`),
  });
  atEnd(async () => void (await child.kill()));
  const url = `http://127.0.0.1:${port}`;
  return {
    ...serviceHandle(child, url, port),
    ready: () => waitUntilReady(child, READY_WITHIN_MS, async () => (await fetch(`${url}/ready`)).ok),
  };
}

function serviceHandle(child: Child, url: string, port: number): ServiceProcess {
  return {
    url,
    port,
    pid: child.pid,
    exited: child.exited,
    logs: () => readFileSync(child.logFile, 'utf8'),
    stop: () => child.stop(SHUTDOWN_STEPS),
    kill: () => child.kill(),
    signal: (signal) => void process.kill(child.pid, signal),
  };
}

/** Removes our settings from the environment: those of the developer's shell must not leak into tests. */
export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !(name in settingsSchema)));
}
