// A TCP balancer: every connection goes to the next target that accepts one.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const HOST = '127.0.0.1';
const CONNECT_MS = 1_000;

export interface Balancer {
  port: number;
  stop(): Promise<void>;
}

export async function startBalancer(targets: number[], port = 0): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer(async (client) => {
    client.on('error', () => client.destroy());
    sockets.add(client);
    client.once('close', () => sockets.delete(client));
    const order = targets.map((_, index) => targets[(next + index) % targets.length] ?? 0);
    next++;
    const target = await firstThatAccepts(order);
    if (!target || client.destroyed) {
      client.destroy();
      target?.destroy();
      return;
    }
    target.on('error', () => client.destroy());
    target.once('close', () => client.destroy());
    client.once('close', () => target.destroy());
    client.pipe(target).pipe(client);
  });
  server.listen(port, HOST);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function firstThatAccepts(ports: number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect({ port, host: HOST });
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), CONNECT_MS);
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    clearTimeout(timer);
    if (connected) return socket;
  }
  return undefined;
}
