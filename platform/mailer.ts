import { composeMail, type OutgoingMail } from './mime.ts';
import { answerText, outcomeOf, providerIdOf, type SendOutcome } from './send-outcome.ts';
import { type Pace, Slots } from './slots.ts';
import { SmtpSession, type SmtpTarget, type SmtpTimeouts, smtpTarget, type WireMail } from './smtp-session.ts';

export {
  composeMail,
  type MailAddress,
  type MailAttachment,
  type MailForm,
  MailSkeleton,
  messageDomain,
  messageId,
  type OutgoingMail,
} from './mime.ts';
export { KnownLines } from './mime-body.ts';
export type { SendOutcome } from './send-outcome.ts';
export type { WireMail } from './smtp-session.ts';

type Unreachable = Extract<SendOutcome, { kind: 'unreachable' }>;

/** A connection to the SMTP server, in the hands of one who sends. */
export interface MailLine {
  /**
   * Never throws. Whoever has many mails to send composes them before, so that no connection waits for it:
   * `composeMail`, or one `MailSkeleton` for all mails of a campaign. `next` is the mail that will be sent over this line
   * after this one; it costs a round trip less. Should it not be sent after all, the line is good for nothing else.
   */
  send(mail: OutgoingMail | WireMail, next?: WireMail): Promise<SendOutcome>;
  /** Gives it back for somebody else's mail, whether it was used or not. */
  release(): Promise<void>;
}

export interface Mailer {
  /** As many as there may be connections. Take one before connecting, give it back when done. */
  slots: Slots;
  /** Never throws. An aborted signal cuts the connection at once, until it is released. */
  connect(signal?: AbortSignal): Promise<MailLine | Unreachable>;
  /** Hard cuts what is on the wire; otherwise only idle connections end, and busy ones after their mail. */
  close(hard?: boolean): void;
}

export interface MailerOptions {
  url: string;
  maxConnections: number;
  /** Of all mail that leaves, where it has one. */
  pace?: Pace | undefined;
  /** Whether credentials may be sent without TLS to another machine. */
  allowPlainAuth?: boolean;
  timeouts?: Partial<SmtpTimeouts>;
}

const TIMEOUTS: SmtpTimeouts = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 60_000 };
/** Most servers hang up on a silent client after a minute or more. */
const IDLE_MS = 20_000;

export function createMailer({ url, maxConnections, pace, allowPlainAuth, timeouts }: MailerOptions): Mailer {
  const pool = new Pool(smtpTarget(url, { ...TIMEOUTS, ...timeouts }, allowPlainAuth));
  return {
    slots: new Slots(maxConnections, pace),
    connect: async (signal) => {
      const idle = pool.takeIdle();
      const session = idle ?? (await pool.open(signal));
      return 'kind' in session ? session : new Line(pool, session, idle !== undefined, signal);
    },
    close: (hard) => pool.close(hard),
  };
}

class Line implements MailLine {
  private readonly pool: Pool;
  private readonly signal: AbortSignal | undefined;
  private readonly hangUp = () => this.session.close(true);
  private session: SmtpSession;
  /** It may have died since the last mail. */
  private used: boolean;
  private clean = true;

  constructor(pool: Pool, session: SmtpSession, used: boolean, signal: AbortSignal | undefined) {
    this.pool = pool;
    this.session = session;
    this.used = used;
    this.signal = signal;
    signal?.addEventListener('abort', this.hangUp, { once: true });
    if (signal?.aborted) this.hangUp();
  }

  send(mail: OutgoingMail | WireMail, next?: WireMail): Promise<SendOutcome> {
    return 'raw' in mail ? this.exchange(mail, next) : this.compose(mail, next);
  }

  private async compose(mail: OutgoingMail, next: WireMail | undefined): Promise<SendOutcome> {
    try {
      return await this.exchange(await composeMail(mail), next);
    } catch (error) {
      return { kind: 'refused', reason: `cannot be written as a mail: ${answerText(error)}` };
    }
  }

  async release(): Promise<void> {
    this.signal?.removeEventListener('abort', this.hangUp);
    if (this.session.isPromised) this.session.close(true);
    await this.pool.giveBack(this.session, this.clean);
  }

  private async exchange(mail: WireMail, next: WireMail | undefined): Promise<SendOutcome> {
    // What the server has refused must be forgotten before the next mail.
    if (!this.clean && !this.session.isPromised) await this.session.reset();
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
    if (!used || handedOver || !lost) return outcomeOf(error, handedOver);
    // That a connection died between two mails says nothing about either.
    this.session.close(true);
    const fresh = await this.pool.open(signal);
    if ('kind' in fresh) return fresh;
    [this.session, this.used, this.clean] = [fresh, false, true];
    return this.exchange(mail, next);
  }
}

/** Sessions that wait for the next mail. How many there can be is decided by the slots. */
class Pool {
  private readonly idle: { session: SmtpSession; timer: NodeJS.Timeout }[] = [];
  private readonly all = new Set<SmtpSession>();
  private readonly target: SmtpTarget;
  private closed = false;
  private isAway = false;
  private probe: Promise<SmtpSession | Unreachable> | undefined;

  constructor(target: SmtpTarget) {
    this.target = target;
  }

  takeIdle(): SmtpSession | undefined {
    const entry = this.idle.pop();
    clearTimeout(entry?.timer);
    return entry?.session;
  }

  /** While the server is away one of all who ask tries, and the others hear from it: none is hammered when it is back. */
  async open(signal?: AbortSignal): Promise<SmtpSession | Unreachable> {
    if (this.probe) {
      const tried = await this.probe;
      if ('kind' in tried) return tried;
    }
    const trying = this.tryOpen(signal);
    if (this.isAway && this.all.size === 0) this.probe ??= trying;
    const result = await trying;
    this.isAway = 'kind' in result;
    if (this.probe === trying) this.probe = undefined;
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
    const at = this.idle.findIndex((entry) => entry.session === session);
    if (at < 0) return;
    clearTimeout(this.idle[at]?.timer);
    this.idle.splice(at, 1);
  }
}
