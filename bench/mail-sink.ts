// A minimal SMTP server that accepts, counts and discards all mail, so that the sender is measured. Runs in its own
// process; sends its port first, then its count at every message.
import { type AddressInfo, createServer, type Socket } from 'node:net';

let count = 0;
let lastAt = 0;

const END = Buffer.from('\r\n.\r\n');

function serve(socket: Socket): void {
  let pending: Buffer = Buffer.alloc(0);
  let inText = false;
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.write('220 sink ESMTP\r\n');
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
    let answer = '';
    for (;;) {
      const end = inText ? pending.indexOf(END) : pending.indexOf('\r\n');
      if (end < 0) break;
      if (inText) {
        inText = false;
        count++;
        lastAt = performance.timeOrigin + performance.now();
        answer += `250 2.0.0 Ok: queued as ${count.toString(36)}\r\n`;
        pending = pending.subarray(end + END.length);
        continue;
      }
      const verb = pending.toString('latin1', 0, 4).toUpperCase();
      pending = pending.subarray(end + 2);
      if (verb === 'EHLO') answer += '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 50000000\r\n';
      else if (verb === 'DATA') answer += '354 go on\r\n';
      else if (verb === 'QUIT') answer += '221 bye\r\n';
      else answer += '250 2.1.0 Ok\r\n';
      if (verb === 'DATA') inText = true;
    }
    if (answer) socket.write(answer);
  });
}

const server = createServer(serve).listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', () => process.send?.({ count, lastAt }));
process.on('disconnect', () => process.exit());
