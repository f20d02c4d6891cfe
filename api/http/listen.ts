import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { answerClientErrors } from './client-error.ts';

const HEADERS_TIMEOUT_MS = 15_000;
/** Allows a body of 40 MB over a slow connection. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Longer than the 60 s after which load balancers close idle connections, so that they close first. */
const KEEP_ALIVE_MS = 65_000;
const SWEEP_MS = 50;
/**
 * Connections that the system has taken and Node has not: Node takes one in each turn of its event loop, and more than
 * these are reset. As long as the system allows (`net.core.somaxconn`).
 */
const BACKLOG = 4_096;

export interface HttpServer {
  port: number;
  /** Refuses new connections and resolves when all open requests are answered. */
  close(): Promise<void>;
  /** Closes all connections. */
  cut(): void;
}

/** `headers` are for responses to requests that Node's parser rejects, which `listener` never sees. */
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
      // Node would answer these without a body; the middleware sends the envelope.
      requireHostHeader: false,
    },
    listener,
  );
  // Unknown expectations may be ignored; Node would answer an empty 417.
  server.on('checkExpectation', listener);
  answerClientErrors(server, headers);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const listening = once(server, 'listening');
  server.listen({ port, host, backlog: BACKLOG });
  await listening;
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      // `close` ends connections that are idle now; this also ends those that become idle or never sent a byte.
      const sweep = setInterval(() => {
        server.closeIdleConnections();
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      }, SWEEP_MS);
      await closed.finally(() => clearInterval(sweep));
    },
    cut: () => server.closeAllConnections(),
  };
}
