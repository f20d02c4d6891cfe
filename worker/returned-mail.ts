import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { SMTPServer } from 'smtp-server';
import type { Db } from '../db/connect.ts';
import type { SigningKeys } from '../platform/crypto/signed-token.ts';
import type { Logger } from '../platform/logger.ts';
import { recordNotices } from '../services/emails/notices.ts';
import { MAX_PARSED_BYTES, readReturnedMail, takesReturnedMail } from '../services/notices/returned-mail.ts';

export interface ReturnedMailOptions {
  port: number;
  host: string;
  db: Db;
  keys: SigningKeys;
  log: Logger;
}

export interface ReturnedMailListener {
  port: number;
  stop(): Promise<void>;
}

/** Some servers return the whole mail. It is accepted, but only its beginning is kept. */
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_CLIENTS = 50;
const IDLE_TIMEOUT_MS = 60_000;
/** A report concerns one mail. */
const MAX_RECIPIENTS = 5;

const refusal = (code: number, text: string) => Object.assign(new Error(text), { responseCode: code });

/** Accepts mail to our envelope senders only: bounces and reports. */
export async function listenForReturnedMail(options: ReturnedMailOptions): Promise<ReturnedMailListener> {
  const { port, host, db, keys, log } = options;
  const server = new SMTPServer({
    banner: 'Everpost returned mail',
    // No STARTTLS, because there is no certificate. Returned mail has crossed the open network before.
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    authOptional: true,
    size: MAX_BYTES,
    maxClients: MAX_CLIENTS,
    socketTimeout: IDLE_TIMEOUT_MS,
    closeTimeout: 1_000,
    logger: false,
    onRcptTo: ({ address }, { envelope }, done) => {
      if (envelope.rcptTo.length >= MAX_RECIPIENTS) done(refusal(452, '4.5.3 Too many recipients'));
      else done(takesReturnedMail(keys, address) ? null : refusal(550, '5.1.1 No such address here'));
    },
    onData: (stream, session, done) => {
      receive(
        stream,
        session.envelope.rcptTo.map(({ address }) => address),
      ).then(
        () => done(null, 'taken'),
        (error: { responseCode?: number }) => {
          if (!error.responseCode) log.warn({ err: error }, 'returned mail could not be recorded');
          done(error.responseCode ? (error as Error) : refusal(451, '4.3.0 Try again later'));
        },
      );
    },
  });

  async function receive(stream: Readable & { sizeExceeded?: boolean }, recipients: string[]): Promise<void> {
    const raw = await beginningOf(stream);
    if (stream.sizeExceeded) throw refusal(552, '5.3.4 Too large');
    for (const to of recipients) {
      const notices = await readReturnedMail(keys, to, raw);
      await recordNotices(db, notices);
      log.debug({ notices: notices.map(({ kind }) => kind) }, 'received returned mail');
    }
  }

  // For example a client that disconnects during a command.
  server.on('error', (err) => log.debug({ err }, 'connection for returned mail broke'));
  server.listen(port, host);
  await once(server.server, 'listening');
  const listening = (server.server.address() as AddressInfo).port;
  log.info({ port: listening }, 'listening for returned mail');
  return { port: listening, stop: () => new Promise((resolve) => server.close(resolve)) };
}

async function beginningOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let kept = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (kept < MAX_PARSED_BYTES) chunks.push(chunk);
    kept += chunk.length;
  }
  return Buffer.concat(chunks).subarray(0, MAX_PARSED_BYTES);
}
