import { Readable } from 'node:stream';
import type { NodemailerError } from 'nodemailer/lib/errors';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SMTPConnection, {
  type SMTPConnectionOptions,
  type SMTPConnectionSendInfo,
  type SMTPEnvelope,
} from 'nodemailer/lib/smtp-connection';

export interface SmtpTarget {
  options: SMTPConnectionOptions;
  auth: { user: string; pass: string } | undefined;
}

export interface SmtpTimeouts {
  connectMs: number;
  greetingMs: number;
  /** Silence of the server in the middle of a conversation. */
  silenceMs: number;
}

export type Exchange =
  | { accepted: true; info: SMTPConnectionSendInfo }
  /** `handedOver`: all of the message was given to the connection, so the server may have taken it. */
  | { accepted: false; error: NodemailerError; handedOver: boolean };

const CHUNK = 64 * 1024;

export function smtpTarget(url: string, { connectMs, greetingMs, silenceMs }: SmtpTimeouts): SmtpTarget {
  const { auth, ...options } = parseConnectionUrl(url);
  return {
    options: {
      ...options,
      connectionTimeout: connectMs,
      dnsTimeout: connectMs,
      greetingTimeout: greetingMs,
      socketTimeout: silenceMs,
    } as SMTPConnectionOptions,
    auth: auth?.user ? { user: auth.user, pass: auth.pass ?? '' } : undefined,
  };
}

/**
 * One conversation with the SMTP server, over nodemailer's connection. Its own pool cannot be used: it does not tell
 * whether a message that failed may have been taken, and cannot be cut short.
 */
export class SmtpSession {
  private readonly connection: SMTPConnection;
  /** Fails the step that is under way. */
  private fail: ((error: Error) => void) | undefined;

  private constructor(connection: SMTPConnection) {
    this.connection = connection;
    connection.on('error', (error) => this.fail?.(error));
    // Whoever waits for an answer gets the proper error first, where there is one.
    connection.on('end', () => setImmediate(() => this.fail?.(new Error('the connection was closed'))));
  }

  /** Connects, greets and logs in. */
  static async open({ options, auth }: SmtpTarget, signal?: AbortSignal): Promise<SmtpSession> {
    signal?.throwIfAborted();
    const connection = new SMTPConnection({ ...options });
    const session = new SmtpSession(connection);
    const hangUp = () => session.close(true);
    signal?.addEventListener('abort', hangUp, { once: true });
    try {
      await session.step((done) => connection.connect(done));
      if (auth && connection.allowsAuth) await session.step((done) => connection.login({ ...auth }, done));
      return session;
    } catch (error) {
      session.close(true);
      throw error;
    } finally {
      signal?.removeEventListener('abort', hangUp);
    }
  }

  get usable(): boolean {
    return !this.connection.destroyed;
  }

  onEnd(listener: () => void): void {
    this.connection.once('end', listener);
  }

  send(envelope: SMTPEnvelope, raw: Buffer): Promise<Exchange> {
    let handedOver = false;
    const body = Readable.from(chunksOf(raw), { objectMode: false });
    // Comes before nodemailer hears of the end and writes the final dot; without the dot no server takes a mail.
    body.once('end', () => {
      handedOver = true;
    });
    return this.step<SMTPConnectionSendInfo>((done) =>
      this.connection.send({ ...envelope, size: raw.length }, body, done),
    ).then(
      (info): Exchange => ({ accepted: true, info: info as SMTPConnectionSendInfo }),
      (error: NodemailerError): Exchange => ({ accepted: false, error, handedOver }),
    );
  }

  /** Makes a session fit for the next mail after the server has refused one. */
  async reset(): Promise<boolean> {
    return this.step((done) => this.connection.reset(done)).then(
      () => true,
      () => false,
    );
  }

  /** Hard: nothing more leaves, not even what is in the socket's buffer. */
  close(hard = false): void {
    if (hard && this.connection._socket) this.connection._socket.destroy();
    if (hard || !this.usable) this.connection.close();
    else this.connection.quit();
    this.fail?.(new Error('the connection was cut by us'));
  }

  /** Waits for one step of the conversation; nodemailer reports some failures as events alone. */
  private step<T>(take: (done: (error?: Error | null, result?: T) => void) => void): Promise<T | undefined> {
    return new Promise<T | undefined>((resolve, reject) => {
      this.fail = reject;
      take((error, result) => (error ? reject(error) : resolve(result)));
    }).finally(() => {
      this.fail = undefined;
    });
  }
}

function* chunksOf(raw: Buffer): Generator<Buffer> {
  for (let at = 0; at < raw.length; at += CHUNK) yield raw.subarray(at, at + CHUNK);
}
