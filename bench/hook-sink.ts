// Receives webhooks in a process of its own and answers 200. Reports its port, and the number of requests when asked.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let received = 0;
const server = createServer((request, response) => {
  request.resume().once('end', () => {
    received++;
    response.writeHead(200, { 'content-length': '2' }).end('{}');
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send?.({ received }));
process.on('disconnect', () => process.exit(0));
