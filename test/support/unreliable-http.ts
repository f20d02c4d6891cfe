// Forwards HTTP requests to an API and spoils some answers, as a bad network does.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `lose`: the API carries the request out, and its answer is lost. A number: refused with this status, not forwarded. */
export type Fault = 'lose' | number;

export interface UnreliableHttp {
  url: string;
  /** The faults of the next requests, in their order. */
  faults: Fault[];
  /** Every request: its method, path and headers. */
  requests: { method: string; path: string; headers: Record<string, string | string[] | undefined> }[];
  stop(): Promise<void>;
}

export async function startUnreliableHttp(target: string): Promise<UnreliableHttp> {
  const faults: Fault[] = [];
  const requests: UnreliableHttp['requests'] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = 'GET', url = '/', headers } = request;
      requests.push({ method, path: url, headers });
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const fault = faults.shift();
      if (typeof fault === 'number') {
        response.writeHead(fault).end();
        return;
      }
      const { host: _host, connection: _connection, 'content-length': _length, ...kept } = headers;
      const answer = await fetch(target + url, {
        method,
        headers: kept as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      const body = Buffer.from(await answer.arrayBuffer());
      if (fault === 'lose') {
        request.socket.destroy();
        return;
      }
      const {
        'content-encoding': _encoding,
        'transfer-encoding': _transfer,
        ...answered
      } = Object.fromEntries(answer.headers);
      response.writeHead(answer.status, { ...answered, 'content-length': String(body.length) }).end(body);
    })().catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
