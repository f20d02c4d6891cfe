import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { envelopeOf } from './envelope.ts';

const LINGER_MS = 1_000;

/** Answers requests that Node's parser rejects with the same error envelope as all others. */
export function answerClientErrors(server: Server, headers: Record<string, string> = {}): void {
  const answered = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || hasBegunResponse(socket)) return void socket.destroy();
    if (answered.has(socket)) return;
    answered.add(socket);
    socket.end(rawResponse(apiErrorOf(error), headers));
    // Destroying the socket at once would make the kernel drop the response if the client is still sending.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
}

/** Node checks the same private field before it writes its own response. */
const hasBegunResponse = (socket: Socket): boolean =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage?.headersSent === true;

function apiErrorOf({ code }: NodeJS.ErrnoException): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError(431, 'BAD_REQUEST', 'The URL and headers of this request are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError(408, 'BAD_REQUEST', 'The request did not arrive in time.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new ApiError(413, 'PAYLOAD_TOO_LARGE', 'The chunk extensions of this request are too large.');
    default:
      return new ApiError(400, 'BAD_REQUEST', 'This is not a valid HTTP request.');
  }
}

function rawResponse(error: ApiError, headers: Record<string, string>): string {
  const requestId = newId();
  const body = JSON.stringify(envelopeOf(error, requestId));
  return [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
