// Receives webhooks and fails some of them, by their id and the seed. It remembers every call.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { atEnd } from '../test/support/cleanup.ts';
import { percentOf } from './random.ts';

export interface ReceivedCall {
  path: string;
  webhookId: string;
  body: string;
  answered: number | 'dropped';
}

export interface FlakyReceiver {
  port: number;
  calls: ReceivedCall[];
  /** From now on every call is answered with 200. */
  behave(): void;
}

const SLOW_MS = 2_000;

/** The first call with an id may fail; later ones succeed. */
export async function startFlakyReceiver(seed: number): Promise<FlakyReceiver> {
  const calls: ReceivedCall[] = [];
  const seen = new Set<string>();
  let behaves = false;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const webhookId = String(request.headers['webhook-id'] ?? '');
      const percent = percentOf(seed, webhookId);
      const fails = !behaves && !seen.has(webhookId) && percent < 12;
      seen.add(webhookId);
      const answered = !fails ? 200 : percent < 6 ? 500 : 'dropped';
      calls.push({ path: request.url ?? '', webhookId, body, answered });
      if (answered === 'dropped') return void request.socket.destroy();
      if (!behaves && percent > 97) await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      response.writeHead(answered, { 'content-type': 'application/json' }).end('{}');
    })().catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    port: (server.address() as AddressInfo).port,
    calls,
    behave: () => {
      behaves = true;
    },
  };
}
