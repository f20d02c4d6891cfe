import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { misbehaviourFor } from './misbehaviour.ts';
import type { ReportedMail } from './reports.ts';
import type { MailStore } from './store.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Accepts mail with any name and password or none, and misbehaves for some recipients. */
export async function startSmtpServer(
  store: MailStore,
  port: number,
  report: (mail: ReportedMail) => void,
): Promise<SMTPServer> {
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
    onRcptTo: ({ address }, _session, done) => {
      const { refusal, delayMs = 0 } = misbehaviourFor(address) ?? {};
      const error = refusal && Object.assign(new Error(refusal.text), { responseCode: refusal.code });
      if (delayMs > 0) setTimeout(() => done(error), delayMs);
      else done(error);
    },
    onData: (stream, session, done) => {
      buffer(stream).then(
        (raw) => {
          if (stream.sizeExceeded) return done(Object.assign(new Error('too large'), { responseCode: 552 }));
          const { mailFrom, rcptTo } = session.envelope;
          const envelope = { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address) };
          done(null, `Ok: queued as ${store.add(envelope, raw)}`);
          for (const to of envelope.to) {
            const kind = misbehaviourFor(to)?.report;
            if (kind) report({ kind, from: envelope.from, to, raw });
          }
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
