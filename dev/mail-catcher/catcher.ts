import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { apiRoutes, json, plainReply, type Reply } from './api.ts';
import { pageRoutes } from './pages.ts';
import { sendReport } from './reports.ts';
import { startSmtpServer } from './smtp.ts';
import { MailStore } from './store.ts';

export interface CatcherOptions {
  dir: string;
  smtpPort: number;
  httpPort: number;
  limit?: number | undefined;
  /** Where bounces and complaints are reported to; unset: nowhere. */
  returnedMailPort?: number | undefined;
}

export interface Catcher {
  smtpUrl: string;
  url: string;
  stop(): Promise<void>;
}

const routes = [...apiRoutes, ...pageRoutes];

/** Receives mail over SMTP and shows it over HTTP, as pages and as JSON. */
export async function startCatcher(options: CatcherOptions): Promise<Catcher> {
  const { dir, smtpPort, httpPort, limit, returnedMailPort } = options;
  const store = new MailStore(dir, limit);
  const smtp = await startSmtpServer(store, smtpPort, (mail) => {
    if (returnedMailPort) sendReport(mail, returnedMailPort).catch((error: Error) => console.error(error.message));
  });
  const http = createServer((request, response) => void serve(store, request, response));
  http.listen(httpPort, '127.0.0.1');
  await once(http, 'listening');
  const portOf = (address: AddressInfo | string | null) => (typeof address === 'object' ? address?.port : undefined);
  return {
    smtpUrl: `smtp://127.0.0.1:${portOf(smtp.server.address())}`,
    url: `http://localhost:${portOf(http.address())}`,
    stop: async () => {
      http.close();
      http.closeAllConnections();
      await new Promise<void>((resolve) => smtp.close(resolve));
      store.close();
    },
  };
}

async function serve(store: MailStore, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = await respond(store, request).catch((error: unknown) => {
    console.error(error);
    return json({ Error: 'the mail catcher failed; see its log' }, 500);
  });
  const securityHeaders = {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  };
  response.writeHead(reply.status, { 'content-type': reply.type, ...securityHeaders, ...reply.headers });
  response.end(request.method === 'HEAD' ? undefined : reply.body);
}

async function respond(store: MailStore, request: IncomingMessage): Promise<Reply> {
  const url = new URL(request.url ?? '/', 'http://catcher');
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET');
  const body = await text(request);
  for (const [routeMethod, path, handler] of routes) {
    const match = routeMethod === method ? path.exec(url.pathname) : undefined;
    if (match) return handler(store, { method, url, body }, ...match.slice(1));
  }
  return plainReply('There is nothing here.', 404);
}
