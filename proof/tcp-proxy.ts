// A TCP proxy that cuts and stalls connections, as networks do.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atEnd } from '../test/support/cleanup.ts';

export interface TcpProxy {
  port: number;
  /** Resets all open connections. New ones work. */
  cut(): void;
  /** Passes nothing on in either direction, on open and on new connections, until `resume`. */
  stall(): void;
  /** Resets open connections and every new one, until `resume`. */
  refuse(): void;
  resume(): void;
}

/** Listens on a port of its own and forwards to `targetPort` of this machine. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const links = new Set<[Socket, Socket]>();
  let isStalled = false;
  let isRefusing = false;
  const server = createServer((client) => {
    if (isRefusing) return void client.resetAndDestroy();
    const upstream = connect(targetPort, '127.0.0.1');
    const link: [Socket, Socket] = [client, upstream];
    links.add(link);
    client.pipe(upstream);
    upstream.pipe(client);
    if (isStalled) for (const socket of link) socket.cork();
    for (const [one, other] of [link, [upstream, client] as const]) {
      one.setNoDelay(true);
      one.on('error', () => {});
      one.on('close', () => {
        links.delete(link);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const each = (act: (socket: Socket) => void) => {
    for (const link of links) link.forEach(act);
  };
  atEnd(() => {
    server.close();
    each((socket) => void socket.destroy());
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => each((socket) => void socket.resetAndDestroy()),
    stall: () => {
      isStalled = true;
      each((socket) => socket.cork());
    },
    refuse: () => {
      isRefusing = true;
      each((socket) => void socket.resetAndDestroy());
    },
    resume: () => {
      isRefusing = false;
      if (!isStalled) return;
      isStalled = false;
      each((socket) => socket.uncork());
    },
  };
}
