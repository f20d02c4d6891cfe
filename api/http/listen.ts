import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { answerClientErrors } from './client-error.ts';

const HEADERS_TIMEOUT_MS = 15_000;
/** For a body of 40 MB over a slow line. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than the minute after which load balancers give up an idle connection, so that they close it and not we. */
const KEEP_ALIVE_MS = 65_000;
const SWEEP_MS = 50;

export interface HttpServer {
  port: number;
  /** Takes nothing new, and resolves when everything in flight is answered. */
  close(): Promise<void>;
  /** Cuts what is still open. */
  cut(): void;
}

/** `headers` are those of answers to what Node's parser refuses, which `listener` never sees. */
export async function listen(
  listener: RequestListener,
  port: number,
  host: string,
  headers: Record<string, string> = {},
): Promise<HttpServer> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Node would refuse these with an empty answer; the middleware does it in the envelope.
      requireHostHeader: false,
    },
    listener,
  );
  // An expectation that nobody knows may be ignored; Node would answer it with an empty 417.
  server.on('checkExpectation', listener);
  answerClientErrors(server, headers);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const listening = once(server, 'listening');
  server.listen(port, host);
  await listening;
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      // `close` ends those that are idle now; some become so later, and those that never said a word do not count.
      const sweep = setInterval(() => {
        server.closeIdleConnections();
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      }, SWEEP_MS);
      await closed.finally(() => clearInterval(sweep));
    },
    cut: () => server.closeAllConnections(),
  };
}
