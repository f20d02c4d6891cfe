import { composeMail, type OutgoingMail } from '../mime/compose.ts';
import type { SmtpMessage } from '../mime/smtp-message.ts';
import { type SlotPace, Slots } from '../slots.ts';
import { answerText, outcomeOfFailure, providerIdOf, type SendOutcome } from './outcome.ts';
import { SmtpSession, type SmtpTarget, type SmtpTimeouts, smtpTarget } from './session.ts';

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

type Unreachable = Extract<SendOutcome, { kind: 'unreachable' }>;

/** A connection to the SMTP server, used by one sender at a time. */
export interface MailConnection {
  /**
   * Never throws. Senders of many mails compose them beforehand, so that no connection is idle meanwhile: with
   * `composeMail`, or with one `MailSkeleton` for all mails of a campaign. `next` is the mail that is sent over this
   * connection afterwards, which saves a round trip; if it is not sent after all, the connection is closed on release.
   */
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

const TIMEOUTS: SmtpTimeouts = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 60_000 };
/** Most servers close a silent connection after a minute or more. */
const IDLE_MS = 20_000;

export function createMailer({ url, maxConnections, pace, allowPlainAuth, timeouts }: MailerOptions): Mailer {
  const pool = new SessionPool(smtpTarget(url, { ...TIMEOUTS, ...timeouts }, allowPlainAuth));
  return {
    slots: new Slots(maxConnections, pace),
    connect: async (signal) => {
      const idle = pool.takeIdle();
      const session = idle ?? (await pool.open(signal));
      return 'kind' in session ? session : new PooledConnection(pool, session, idle !== undefined, signal);
    },
    close: (hard) => pool.close(hard),
  };
}

class PooledConnection implements MailConnection {
  private readonly pool: SessionPool;
  private readonly signal: AbortSignal | undefined;
  private readonly abort = () => this.session.close(true);
  private session: SmtpSession;
  /** A session that has sent mail may have died since. */
  private used: boolean;
  private clean = true;

  constructor(pool: SessionPool, session: SmtpSession, used: boolean, signal: AbortSignal | undefined) {
    this.pool = pool;
    this.session = session;
    this.used = used;
    this.signal = signal;
    signal?.addEventListener('abort', this.abort, { once: true });
    if (signal?.aborted) this.abort();
  }

  send(mail: OutgoingMail | SmtpMessage, next?: SmtpMessage): Promise<SendOutcome> {
    return 'raw' in mail ? this.exchange(mail, next) : this.composeAndSend(mail, next);
  }

  private async composeAndSend(mail: OutgoingMail, next: SmtpMessage | undefined): Promise<SendOutcome> {
    try {
      return await this.exchange(await composeMail(mail), next);
    } catch (error) {
      return { kind: 'refused', reason: `cannot be written as a mail: ${answerText(error)}` };
    }
  }

  async release(): Promise<void> {
    this.signal?.removeEventListener('abort', this.abort);
    if (this.session.hasAnnouncedMail) this.session.close(true);
    await this.pool.giveBack(this.session, this.clean);
  }

  private async exchange(mail: SmtpMessage, next: SmtpMessage | undefined): Promise<SendOutcome> {
    // RSET discards a refused transaction before the next mail.
    if (!this.clean && !this.session.hasAnnouncedMail) await this.session.reset();
    const exchange = await this.session.send(mail, next);
    const { used } = this;
    this.clean = exchange.accepted;
    this.used = true;
    if (exchange.accepted) {
      const { response } = exchange;
      return { kind: 'sent', providerMessageId: providerIdOf(response), answer: answerText({ response }) };
    }
    const { error, handedOver } = exchange;
    const { signal } = this;
    if (signal?.aborted && !handedOver) return { kind: 'unreachable', reason: 'stopped before it was sent' };
    const lost = error.kind === 'lost' || error.responseCode === 421;
    if (!used || handedOver || !lost) return outcomeOfFailure(error, handedOver);
    // The server closed the connection between two mails: sends this one over a new connection.
    this.session.close(true);
    const fresh = await this.pool.open(signal);
    if ('kind' in fresh) return fresh;
    [this.session, this.used, this.clean] = [fresh, false, true];
    return this.exchange(mail, next);
  }
}

/** Idle sessions, reused for the next mail. The slots bound their number. */
class SessionPool {
  private readonly idle: { session: SmtpSession; timer: NodeJS.Timeout }[] = [];
  private readonly all = new Set<SmtpSession>();
  private readonly target: SmtpTarget;
  private closed = false;
  private isUnavailable = false;
  private probe: Promise<SmtpSession | Unreachable> | undefined;

  constructor(target: SmtpTarget) {
    this.target = target;
  }

  takeIdle(): SmtpSession | undefined {
    const entry = this.idle.pop();
    clearTimeout(entry?.timer);
    return entry?.session;
  }

  /** While the server is unavailable a single caller connects and the others share its result, to spare the server. */
  async open(signal?: AbortSignal): Promise<SmtpSession | Unreachable> {
    if (this.probe) {
      const result = await this.probe;
      if ('kind' in result) return result;
    }
    const attempt = this.tryOpen(signal);
    if (this.isUnavailable && this.all.size === 0) this.probe ??= attempt;
    const result = await attempt;
    this.isUnavailable = 'kind' in result;
    if (this.probe === attempt) this.probe = undefined;
    return result;
  }

  private async tryOpen(signal?: AbortSignal): Promise<SmtpSession | Unreachable> {
    try {
      const session = await SmtpSession.open(this.target, signal);
      this.all.add(session);
      session.onEnd(() => this.forget(session));
      return session;
    } catch (error) {
      return { kind: 'unreachable', reason: answerText(error) };
    }
  }

  async giveBack(session: SmtpSession, clean: boolean): Promise<void> {
    if (!session.usable) return;
    if (!this.closed && (clean || (await session.reset()))) {
      const timer = setTimeout(() => {
        this.dropIdle(session);
        session.close();
      }, IDLE_MS);
      this.idle.push({ session, timer: timer.unref() });
    } else session.close();
  }

  close(hard = false): void {
    this.closed = true;
    const ending = hard ? [...this.all] : this.idle.map(({ session }) => session);
    for (const session of ending) session.close(hard);
  }

  private forget(session: SmtpSession): void {
    this.all.delete(session);
    this.dropIdle(session);
  }

  private dropIdle(session: SmtpSession): void {
    const index = this.idle.findIndex((entry) => entry.session === session);
    if (index < 0) return;
    clearTimeout(this.idle[index]?.timer);
    this.idle.splice(index, 1);
  }
}
