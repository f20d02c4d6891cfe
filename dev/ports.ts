import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheDir } from './cache.ts';
import { type AcquiredLock, tryLock } from './lock.ts';
import type { ReportProgress } from './report.ts';

/** Returns a port that is not in use. */
export async function freePort(): Promise<number> {
  const port = await listenOn(0, '127.0.0.1');
  if (typeof port === 'string') throw new Error(`No port is free on 127.0.0.1: ${port}`);
  return port;
}

// `localhost` may resolve to IPv4 or IPv6: another program on ::1 would answer instead of ours.
async function isFree(port: number): Promise<boolean> {
  const [v4, v6] = [await listenOn(port, '127.0.0.1'), await listenOn(port, '::1')];
  return typeof v4 === 'number' && v6 !== 'EADDRINUSE';
}

/**
 * Returns the wanted port, or reports and returns a free one. The port stays locked until this process ends: nothing listens
 * on it for a while yet, and another stack that starts meanwhile must not choose it too.
 */
export async function portOrFree(what: string, wanted: number, report: ReportProgress): Promise<number> {
  let port = wanted > 0 ? wanted : await freePort();
  while (!(await reserve(port))) port = await freePort();
  if (wanted > 0 && port !== wanted) report(`Port ${wanted} is taken: ${what} listens on ${port} instead.`);
  return port;
}

const reserved: AcquiredLock[] = [];

process.on('exit', () => {
  for (const lock of reserved) lock.release();
});

async function reserve(port: number): Promise<boolean> {
  const lock = tryLock(join(cacheDir(), 'locks', `port-${port}.lock`));
  if (!('release' in lock)) return false;
  const free = await isFree(port);
  if (free) reserved.push(lock);
  else lock.release();
  return free;
}

async function listenOn(port: number, host: string): Promise<number | string> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 'no address'));
    });
  });
}

/** Resolves once the port accepts connections. Throws when `isAlive` returns false: the program has ended. */
export async function accepts(port: number, timeoutMs: number, isAlive: () => boolean = () => true): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await canConnect(port))) {
    if (!isAlive()) throw new Error(`The program that was to listen on port ${port} has ended.`);
    if (Date.now() > deadline) throw new Error(`Nothing listens on port ${port} after ${timeoutMs / 1000} s.`);
    await sleep(50);
  }
}

export function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
