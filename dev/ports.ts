import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheDir } from './cache.ts';
import { type AcquiredLock, tryLock } from './lock.ts';
import type { ReportProgress } from './report.ts';

/**
 * Below those that systems give to outgoing connections (from 32768 on Linux, from 49152 elsewhere): such a connection could
 * take a port between its choice and its use.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const ATTEMPTS = 1_000;

/**
 * Returns a port that is not in use. It stays locked until this process ends: nothing listens on it for a while yet, and
 * another process must not choose it too.
 */
export async function freePort(): Promise<number> {
  for (let n = 0; n < ATTEMPTS; n++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await reserve(port)) return port;
  }
  throw new Error(`No port between ${FIRST_PORT} and ${LAST_PORT} is free on 127.0.0.1.`);
}

// `localhost` may resolve to IPv4 or IPv6: another program on ::1 would answer instead of ours.
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) === true && (await canListen(port, '::1')) !== 'EADDRINUSE';
}

/** Returns the wanted port, or reports and returns a free one. Locks it as `freePort` does. */
export async function portOrFree(what: string, wanted: number, report: ReportProgress): Promise<number> {
  if (wanted > 0 && (await reserve(wanted))) return wanted;
  const port = await freePort();
  if (wanted > 0) report(`Port ${wanted} is taken: ${what} listens on ${port} instead.`);
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

/** Returns the code of the error if it cannot. */
function canListen(port: number, host: string): Promise<true | string> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
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
