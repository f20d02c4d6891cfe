// A stand-in for the part of S3's API that uploads use.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface S3StandIn {
  url: string;
  objects: Map<string, { body: Buffer; contentType: string }>;
  /** Counts requests without a signature, which are rejected. */
  unsigned: number;
  fault: 'down' | undefined;
  close(): Promise<void>;
}

const error = (code: string) => `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`;

export async function startS3(bucket: string): Promise<S3StandIn> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const end = (status: number, body: string | Buffer = '', type = 'application/xml') =>
      void response.writeHead(status, { 'content-type': type }).end(body);
    if (standIn.fault === 'down') return end(503, error('SlowDown'));
    if (!request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 Credential=our-id/')) {
      standIn.unsigned++;
      return end(403, error('AccessDenied'));
    }
    const { pathname } = new URL(request.url ?? '/', 'http://s3.test');
    const [, requestedBucket, key = ''] = pathname.split('/');
    if (requestedBucket !== bucket) return end(404, error('NoSuchBucket'));
    const object = standIn.objects.get(key);
    if (request.method === 'PUT') {
      standIn.objects.set(key, { body: Buffer.concat(chunks), contentType: request.headers['content-type'] ?? '' });
      return end(200);
    }
    if (request.method === 'DELETE') {
      standIn.objects.delete(key);
      return end(204);
    }
    return object ? end(200, object.body, object.contentType) : end(404, error('NoSuchKey'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: S3StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects: new Map(),
    unsigned: 0,
    fault: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return standIn;
}
