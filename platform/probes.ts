import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { securityHeaders } from './http/security-headers.ts';

export type PartStatus = 'ok' | 'degraded' | 'down';

/** A `degraded` process still accepts work, which waits until the unavailable part is back. */
export interface Readiness {
  status: PartStatus;
  parts: Record<string, PartStatus>;
  /** What is wrong, where it is known. */
  reason?: string;
}

/** How often the delay of the event loop is sampled. The default of prom-client wakes an idle process 100 times a second. */
export const EVENT_LOOP_SAMPLE_MS = 100;

/** The methods of prom-client's Registry that the probes use. */
export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface ProbesOptions {
  port: number;
  host: string;
  registry: MetricsSource;
  /** Without it only `/metrics` is served, for a process that answers probes on another port. */
  ready?: () => Promise<Readiness>;
}

export interface Probes {
  port: number;
  stop(): Promise<void>;
}

/** A required part that is down takes the process down; an `optional` one only degrades it. */
export function readinessOf(parts: Record<string, PartStatus>, optional: string[] = []): Readiness {
  const required = Object.entries(parts).filter(([name]) => !optional.includes(name));
  if (required.some(([, status]) => status === 'down')) return { status: 'down', parts };
  return { status: Object.values(parts).every((status) => status === 'ok') ? 'ok' : 'degraded', parts };
}

export const statusOf = ({ status }: Readiness): number => (status === 'down' ? 503 : 200);

/** Serves `/health`, `/ready` and `/metrics` for a process without an HTTP API. */
export async function startProbes(options: ProbesOptions): Promise<Probes> {
  const headers = Object.entries(securityHeaders());
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    request.resume();
    for (const [name, value] of headers) response.setHeader(name, value);
    if (request.method !== 'GET' && request.method !== 'HEAD') return void json(response, 405, { error: 'only GET' });
    answer(options, path, response).catch(() => response.headersSent || json(response, 500, { status: 'down' }));
  });
  await listen(server, options.port, options.host);
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer({ ready, registry }: ProbesOptions, path: string, response: ServerResponse): Promise<unknown> {
  if (path === '/metrics') {
    const text = await registry.metrics();
    return response.writeHead(200, { 'content-type': registry.contentType }).end(text);
  }
  if (path === '/health' && ready) return json(response, 200, { status: 'ok' });
  if (path === '/ready' && ready) {
    const readiness = await ready();
    return json(response, statusOf(readiness), readiness);
  }
  return json(response, 404, { error: 'not found' });
}

function json(response: ServerResponse, status: number, body: unknown): ServerResponse {
  return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  await listening;
}
