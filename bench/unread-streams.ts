// The memory of the API while clients of GET /live do not read, compared with that before they connected.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measure, measure, median } from './bench.ts';
import { residentMegabytes } from './resident-memory.ts';
import { call, type Stack } from './whole-stack.ts';

const STREAMS = 20;
const WORKFLOWS = 20;
/** Together about 4.5 MB; a workflow may have five. */
const STEPS = 18;
const STEP_BYTES = 250_000;
/** Shorter than the time after which clients that do not read are disconnected. */
const SECONDS = 20;

export async function unreadStreams(stack: Stack): Promise<Measure> {
  const ids: string[] = [];
  for (let n = 0; n < WORKFLOWS; n++) ids.push(await createLargeWorkflow(stack, n));
  // Reading them costs memory too, with and without streams.
  for (const id of ids) await call(stack.url, stack.key, 'GET', `/workflows/${id}`);
  await sleep(SECONDS * 1_000);
  const before = await memoryOf(stack);
  const topics = ids.map((id) => `workflow:${id}`).join();
  const sockets: Socket[] = [];
  for (let n = 0; n < STREAMS; n++) sockets.push(await openUnread(stack, topics));
  const during = await memoryOf(stack);
  for (const socket of sockets) socket.destroy();
  return measure(
    `memory of the API with ${STREAMS} streams of ${WORKFLOWS} large workflows that do not read, and without`,
    'MB',
    Math.max(...during),
    median(before),
    '<= 1.3',
  );
}

async function createLargeWorkflow({ url, key }: Stack, n: number): Promise<string> {
  const { id } = await call<{ id: string }>(url, key, 'POST', '/workflows', { name: `Large ${n}`, eventName: 'large' });
  for (let step = 0; step < STEPS; step++)
    await call(url, key, 'POST', `/workflows/${id}/steps`, {
      name: `Call ${step}`,
      type: 'WEBHOOK',
      autoConnect: true,
      config: { url: 'https://hooks.example.com', body: `${n}/${step} `.padEnd(STEP_BYTES, 'x') },
    });
  return id;
}

async function memoryOf({ pids }: Stack): Promise<number[]> {
  const samples: number[] = [];
  for (let second = 0; second < SECONDS; second++) {
    samples.push(residentMegabytes(pids.api ?? 0));
    await sleep(1_000);
  }
  return samples;
}

async function openUnread({ url, key }: Stack, topics: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  socket.pause();
  await once(socket, 'connect');
  socket.write(`GET /live?topics=${topics} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  return socket;
}
