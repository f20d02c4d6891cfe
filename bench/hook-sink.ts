// Receives webhooks in a process of its own and answers 200. Reports its port, and the number of requests when asked.
// It does no more than find the end of each request: a real receiver takes nothing of the sender's processors.
import { type AddressInfo, createServer, type Socket } from 'node:net';

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');

let received = 0;

function serve(socket: Socket): void {
  let pending = '';
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    for (let end = endOfRequest(pending); end !== undefined; end = endOfRequest(pending)) {
      pending = pending.slice(end);
      received++;
      socket.write(ANSWER);
    }
  });
}

/** Returns where the first request ends, or undefined while a part of it is missing. */
function endOfRequest(text: string): number | undefined {
  const headersEnd = text.indexOf('\r\n\r\n');
  if (headersEnd < 0) return undefined;
  const [, length = '0'] = /content-length: *(\d+)/i.exec(text.slice(0, headersEnd)) ?? [];
  const end = headersEnd + 4 + Number(length);
  return end <= text.length ? end : undefined;
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send?.({ received }));
process.on('disconnect', () => process.exit(0));
