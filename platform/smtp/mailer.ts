import { composeMail, type OutgoingMail } from '../mime/compose.ts';
import type { SmtpMessage } from '../mime/smtp-message.ts';
import { type SlotPace, Slots } from '../slots.ts';
import { answerText, type SendOutcome, type Unreachable } from './outcome.ts';
import { DEFAULT_TIMEOUTS, type SmtpTimeouts, smtpTarget } from './session.ts';
import { type RelayConnection, SessionPool } from './session-pool.ts';

export {
  composeMail,
  type MailAddress,
  type MailAttachment,
  MailSkeleton,
  messageDomain,
  messageId,
  type OutgoingMail,
  type PrecompiledBody,
} from '../mime/compose.ts';
export { EncodedLineCache } from '../mime/encoding.ts';
export type { SmtpMessage } from '../mime/smtp-message.ts';
export type { SendOutcome } from './outcome.ts';

/** A connection to the SMTP server, used by one sender at a time. */
export interface MailConnection {
  /** Like `RelayConnection.send`. Composes the mail first where the caller has not. */
  send(mail: OutgoingMail | SmtpMessage, next?: SmtpMessage): Promise<SendOutcome>;
  /** Returns the connection to the pool, used or not. */
  release(): Promise<void>;
}

export interface Mailer {
  /** One slot per allowed connection. Take a slot before `connect` and give it back after `release`. */
  slots: Slots;
  /** Never throws. Until the release, aborting the signal closes the connection at once. */
  connect(signal?: AbortSignal): Promise<MailConnection | Unreachable>;
  /** Closes idle connections, and busy ones after their mail; `hard` cuts connections with mail in flight too. */
  close(hard?: boolean): void;
}

export interface MailerOptions {
  url: string;
  maxConnections: number;
  /** Limits the rate of all mail that leaves. */
  pace?: SlotPace | undefined;
  /** Whether credentials may be sent without TLS to another machine. */
  allowPlainAuth?: boolean;
  timeouts?: Partial<SmtpTimeouts>;
}

export function createMailer({ url, maxConnections, pace, allowPlainAuth, timeouts }: MailerOptions): Mailer {
  const pool = new SessionPool(smtpTarget(url, { ...DEFAULT_TIMEOUTS, ...timeouts }, allowPlainAuth));
  const opener = new SharedOpener(pool);
  return {
    slots: new Slots(maxConnections, pace),
    connect: async (signal) => {
      const connection = pool.takeIdle(signal) ?? (await opener.open(signal));
      return 'kind' in connection ? connection : composing(connection);
    },
    close: (hard) => pool.close(hard),
  };
}

const composing = (connection: RelayConnection): MailConnection => ({
  send: (mail, next) => ('raw' in mail ? connection.send(mail, next) : composeAndSend(connection, mail, next)),
  release: () => connection.release(),
});

async function composeAndSend(
  connection: RelayConnection,
  mail: OutgoingMail,
  next: SmtpMessage | undefined,
): Promise<SendOutcome> {
  let message: SmtpMessage;
  try {
    message = await composeMail(mail);
  } catch (error) {
    return { kind: 'refused', reason: `cannot be written as a mail: ${answerText(error)}` };
  }
  return connection.send(message, next);
}

/** While the server is unavailable a single connection is tried and all callers share its result, to spare the server. */
class SharedOpener {
  private readonly pool: SessionPool;
  private isUnavailable = false;
  private probe: Promise<Unreachable | undefined> | undefined;

  constructor(pool: SessionPool) {
    this.pool = pool;
  }

  async open(signal?: AbortSignal): Promise<RelayConnection | Unreachable> {
    if (this.isUnavailable && this.pool.size === 0) this.probe ??= this.tryOnce();
    const failure = this.probe && (await unlessAborted(this.probe, signal));
    if (failure) return failure;
    const connection = this.pool.takeIdle(signal) ?? (await this.pool.open(signal));
    this.isUnavailable = 'kind' in connection && !signal?.aborted;
    return connection;
  }

  /** Has no signal, because a caller that stops must not fail the others. */
  private async tryOnce(): Promise<Unreachable | undefined> {
    const connection = await this.pool.open();
    this.probe = undefined;
    if ('kind' in connection) return connection;
    this.isUnavailable = false;
    await connection.release();
    return undefined;
  }
}

/** Resolves with the result of `work`, or as unreachable as soon as the signal aborts. */
async function unlessAborted(
  work: Promise<Unreachable | undefined>,
  signal: AbortSignal | undefined,
): Promise<Unreachable | undefined> {
  const stopped: Unreachable = { kind: 'unreachable', reason: 'stopped while connecting' };
  if (!signal) return work;
  if (signal.aborted) return stopped;
  return new Promise((resolve) => {
    const stop = () => resolve(stopped);
    signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve).finally(() => signal.removeEventListener('abort', stop));
  });
}
