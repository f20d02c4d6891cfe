import { once as event } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd, once } from './cleanup.ts';
import { eventually, type WaitOptions } from './waiting.ts';

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  receivedAt: Date;
  json(): unknown;
}

export interface ReceiverAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown;
  delayMs?: number;
  /** `hang`: no answer. `drop`: the connection is closed. */
  instead?: 'hang' | 'drop';
}

type AnswerSource = ReceiverAnswer | ((request: ReceivedRequest) => ReceiverAnswer | Promise<ReceiverAnswer>);

export interface HttpReceiver {
  url: string;
  /** `host:port`, in the format of WEBHOOK_ALLOWED_HOSTS. */
  host: string;
  requests: ReceivedRequest[];
  received(count: number, waitOptions?: WaitOptions): Promise<ReceivedRequest[]>;
  /** Sets the answer from now on, for all paths or one. The default is 200 with an empty object. */
  answer(source: AnswerSource, path?: string): void;
  redirect(path: string, to: string, status?: number): void;
  stop(): Promise<void>;
}

export async function startHttpReceiver(): Promise<HttpReceiver> {
  const requests: ReceivedRequest[] = [];
  const answers = new Map<string, AnswerSource>();
  const server = createServer((request, response) => {
    receive(request)
      .then(async (received) => {
        requests.push(received);
        const source = answers.get(new URL(received.path, 'http://receiver').pathname) ?? answers.get('*') ?? {};
        await reply(response, typeof source === 'function' ? await source(received) : source);
      })
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  server.listen(0, '127.0.0.1');
  await event(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = once(async () => {
    server.close();
    server.closeAllConnections();
    await event(server, 'close');
  });
  atEnd(stop);
  return {
    url: `http://${host}`,
    host,
    requests,
    received: (count, waitOptions) =>
      eventually(() => requests.length >= count && requests, { what: `${count} requests`, ...waitOptions }),
    answer: (source, path = '*') => void answers.set(path, source),
    redirect: (path, to, status = 302) => void answers.set(path, { status, headers: { location: to } }),
    stop,
  };
}

async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const body = await text(request);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body,
    receivedAt: new Date(),
    json: () => JSON.parse(body),
  };
}

async function reply(response: ServerResponse, answer: ReceiverAnswer): Promise<void> {
  const { status = 200, headers = {}, body = {}, delayMs, instead } = answer;
  if (instead === 'hang') return;
  if (instead === 'drop') return void response.destroy();
  if (delayMs) await sleep(delayMs);
  const plain = typeof body === 'string' || Buffer.isBuffer(body);
  response.writeHead(status, { 'content-type': plain ? 'text/plain' : 'application/json', ...headers });
  response.end(plain ? body : JSON.stringify(body));
}
