import type { SmtpMessage } from '../mime/smtp-message.ts';
import { answerText, outcomeOfFailure, providerIdOf, type SendOutcome, type Unreachable } from './outcome.ts';
import { type FailedExchange, SmtpSession, type SmtpTarget } from './session.ts';

/** A connection to an SMTP relay, used by one sender at a time. */
export interface RelayConnection {
  /**
   * Never throws. `next` is the mail that is sent over this connection afterwards, which saves a round trip; if it is not
   * sent after all, the connection is closed on release.
   */
  send(message: SmtpMessage, next?: SmtpMessage): Promise<SendOutcome>;
  /** Returns the connection to the pool, used or not. */
  release(): Promise<void>;
}

/** Reports whether the relay answers. */
export interface PoolObserver {
  /** The relay answered a mail, or refused it for a reason of the mail. */
  onAnswer(): void;
  /** A connection could not be opened, was lost, or the relay takes no mail. `startedAt`: when that was tried. */
  onFailure(reason: string, startedAt: number): void;
}

/** Most servers close a silent connection after a minute or more. */
const IDLE_MS = 20_000;

/** The sessions with one SMTP relay. Idle ones are reused for the next mail. The callers bound their number. */
export class SessionPool {
  private readonly idle: { session: SmtpSession; timer: NodeJS.Timeout }[] = [];
  private readonly all = new Set<SmtpSession>();
  private readonly target: SmtpTarget;
  private readonly observer: PoolObserver | undefined;
  private closed = false;

  constructor(target: SmtpTarget, observer?: PoolObserver) {
    this.target = target;
    this.observer = observer;
  }

  get size(): number {
    return this.all.size;
  }

  get idleCount(): number {
    return this.idle.length;
  }

  takeIdle(signal?: AbortSignal): RelayConnection | undefined {
    const entry = this.idle.pop();
    clearTimeout(entry?.timer);
    return entry && new PooledConnection(this, entry.session, true, signal, this.observer);
  }

  /** Never throws. */
  async open(signal?: AbortSignal): Promise<RelayConnection | Unreachable> {
    const session = await this.openSession(signal);
    return 'kind' in session ? session : new PooledConnection(this, session, false, signal, this.observer);
  }

  /** Never throws. A stop by the signal is not a failure of the relay. */
  async openSession(signal?: AbortSignal): Promise<SmtpSession | Unreachable> {
    const startedAt = performance.now();
    try {
      const session = await SmtpSession.open(this.target, signal);
      this.all.add(session);
      session.onEnd(() => this.forget(session));
      return session;
    } catch (error) {
      const reason = answerText(error);
      if (!signal?.aborted) this.observer?.onFailure(reason, startedAt);
      return { kind: 'unreachable', reason };
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

  /** Closes idle sessions, and busy ones after their mail; `hard` cuts sessions with mail in flight too. */
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

class PooledConnection implements RelayConnection {
  private readonly pool: SessionPool;
  private readonly observer: PoolObserver | undefined;
  private readonly signal: AbortSignal | undefined;
  private readonly abort = () => this.session.close(true);
  private session: SmtpSession;
  /** A session that has sent mail may have died since. */
  private used: boolean;
  private clean = true;

  constructor(
    pool: SessionPool,
    session: SmtpSession,
    used: boolean,
    signal: AbortSignal | undefined,
    observer: PoolObserver | undefined,
  ) {
    this.pool = pool;
    this.session = session;
    this.used = used;
    this.signal = signal;
    this.observer = observer;
    signal?.addEventListener('abort', this.abort, { once: true });
    if (signal?.aborted) this.abort();
  }

  async release(): Promise<void> {
    this.signal?.removeEventListener('abort', this.abort);
    if (this.session.hasAnnouncedMail) this.session.close(true);
    await this.pool.giveBack(this.session, this.clean);
  }

  async send(message: SmtpMessage, next?: SmtpMessage): Promise<SendOutcome> {
    // RSET discards a refused transaction before the next mail.
    if (!this.clean && !this.session.hasAnnouncedMail) await this.session.reset();
    const startedAt = performance.now();
    const exchange = await this.session.send(message, next);
    const { signal } = this;
    const wasUsed = this.used;
    this.clean = exchange.accepted;
    this.used = true;
    if (exchange.accepted) {
      this.observer?.onAnswer();
      const { response } = exchange;
      return { kind: 'sent', providerMessageId: providerIdOf(response), answer: answerText({ response }) };
    }
    const { error, handedOver } = exchange;
    if (signal?.aborted && !handedOver) return { kind: 'unreachable', reason: 'stopped before it was sent' };
    const lost = error.kind === 'lost' || error.responseCode === 421;
    if (!wasUsed || handedOver || !lost) return this.report(exchange, startedAt);
    // The server closed the connection between two mails: sends this one over a new connection.
    this.session.close(true);
    const fresh = await this.pool.openSession(signal);
    if ('kind' in fresh) return fresh;
    this.session = fresh;
    this.used = false;
    this.clean = true;
    return this.send(message, next);
  }

  private report(exchange: FailedExchange, startedAt: number): SendOutcome {
    const { error } = exchange;
    const outcome = outcomeOfFailure(error, exchange);
    const isFailure = error.kind === 'lost' || outcome.kind === 'unreachable';
    if (isFailure && !this.signal?.aborted) this.observer?.onFailure(outcome.reason, startedAt);
    else if (error.kind === 'answer' && !isFailure) this.observer?.onAnswer();
    return outcome;
  }
}
