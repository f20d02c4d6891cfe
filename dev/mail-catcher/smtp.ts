import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { MailStore } from './store.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Accepts every mail for every recipient, with any name and password or none. */
export async function startSmtpServer(store: MailStore, port: number): Promise<SMTPServer> {
  const server = new SMTPServer({
    banner: 'Everpost mail catcher',
    authOptional: true,
    allowInsecureAuth: true,
    // Offered with an untrusted certificate, it would only make clients fail.
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    size: MAX_BYTES,
    socketTimeout: 5 * 60_000,
    closeTimeout: 2_000,
    onAuth: (auth, _session, done) => done(null, { user: auth.username ?? 'anybody' }),
    onData: (stream, session, done) => {
      buffer(stream).then(
        (raw) => {
          if (stream.sizeExceeded) return done(Object.assign(new Error('too large'), { responseCode: 552 }));
          const { mailFrom, rcptTo } = session.envelope;
          const envelope = { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address) };
          done(null, `Ok: queued as ${store.add(envelope, raw)}`);
        },
        (error: Error) => done(error),
      );
    },
  });
  // A client that disconnects in mid-command must not end the process.
  server.on('error', (error) => console.error(error.message));
  const listening = once(server.server, 'listening');
  server.listen(port, '127.0.0.1');
  await Promise.race([listening, once(server.server, 'error').then(([error]) => Promise.reject(error))]);
  return server;
}
