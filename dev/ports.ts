import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
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

/** Returns the wanted port, or reports and returns a free one. `taken`: ports that were returned but are not in use yet. */
export async function portOrFree(
  what: string,
  wanted: number,
  report: ReportProgress,
  taken: Set<number> = new Set(),
): Promise<number> {
  let port = wanted > 0 && !taken.has(wanted) && (await isFree(wanted)) ? wanted : await freePort();
  while (taken.has(port)) port = await freePort();
  if (wanted > 0 && port !== wanted) report(`Port ${wanted} is taken: ${what} listens on ${port} instead.`);
  taken.add(port);
  return port;
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
