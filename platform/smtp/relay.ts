import type { SendOutcome, Unreachable } from './outcome.ts';
import type { RelaySettings } from './relay-settings.ts';
import { DEFAULT_TIMEOUTS, type SmtpTimeouts, smtpTarget } from './session.ts';
import { type RelayConnection, SessionPool } from './session-pool.ts';

export type { Unreachable } from './outcome.ts';
export type { RelayConnection } from './session-pool.ts';

export interface RelayOptions extends RelaySettings {
  maxConnections: number;
  /** The longest pause of a relay that is left out. The first is a thirtieth of it; every further failure doubles it. */
  pauseMs: number;
  /** Whether credentials may be sent without TLS to another machine. */
  allowPlainAuth?: boolean;
  timeouts?: Partial<SmtpTimeouts>;
}

export interface LeftOut {
  reason: string;
  /** When the next connection is tried, by `performance.now()`. */
  until: number;
}

/** The first pause is this part of the longest. */
const FIRST_PAUSE = 1 / 30;
/** A relay with open connections is left out when none of them has had an answer for this long. */
const SILENCE_MS = 5_000;
/** How soon to ask again while a connection is being tried. */
const PROBING_MS = 50;

/**
 * One SMTP relay with its pooled connections. Callers use at most `maxConnections` at a time.
 *
 * A relay that cannot be reached, or takes no mail, is left out for a while. After the pause it tries a connection by
 * itself, without a mail, and is usable again when that succeeds. Where other connections still work, only new ones wait:
 * some relays refuse those beyond a number of their own.
 */
export class Relay {
  readonly name: string;
  readonly weight: number;
  readonly maxConnections: number;
  readonly ratePerSecond: number | undefined;
  /** Mails of this process by outcome, for metrics. */
  readonly outcomes: Record<SendOutcome['kind'], number> = {
    sent: 0,
    deferred: 0,
    refused: 0,
    unknown: 0,
    unreachable: 0,
  };
  private readonly pool: SessionPool;
  private readonly pauseMs: number;
  private left: LeftOut | undefined;
  private noNewUntil = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private failures = 0;
  private answeredAt = Number.NEGATIVE_INFINITY;
  private closed = false;

  constructor({ url, name, weight, maxConnections, ratePerSecond, pauseMs, allowPlainAuth, timeouts }: RelayOptions) {
    this.name = name;
    this.weight = weight;
    this.maxConnections = maxConnections;
    this.ratePerSecond = ratePerSecond;
    this.pauseMs = pauseMs;
    this.pool = new SessionPool(smtpTarget(url, { ...DEFAULT_TIMEOUTS, ...timeouts }, allowPlainAuth), {
      onAnswer: () => this.onAnswer(),
      onFailure: (reason, startedAt) => this.onFailure(reason, startedAt),
    });
  }

  /** Undefined while the relay is usable. */
  get leftOut(): LeftOut | undefined {
    return this.left;
  }

  get connections(): { busy: number; idle: number } {
    const { size, idleCount: idle } = this.pool;
    return { busy: size - idle, idle };
  }

  /**
   * The milliseconds after which to ask again for a connection; 0 when there is one, or one may be opened. `isConnected`:
   * the caller has one already.
   */
  delay(isConnected = false): number {
    const now = performance.now();
    if (this.left) return Math.max(this.left.until - now, PROBING_MS);
    return isConnected || this.pool.idleCount > 0 ? 0 : Math.max(0, this.noNewUntil - now);
  }

  /**
   * Never throws. Until the release, aborting the signal closes the connection at once. Opens no connection while
   * `delay` is not 0.
   */
  async connect(signal?: AbortSignal): Promise<RelayConnection | Unreachable> {
    if (this.left) return { kind: 'unreachable', reason: this.left.reason };
    const idle = this.pool.takeIdle(signal);
    if (!idle && this.delay() > 0) return { kind: 'unreachable', reason: 'the relay accepts no more connections now' };
    const connection = idle ?? (await this.pool.open(signal));
    return 'kind' in connection ? connection : this.counted(connection);
  }

  /** Closes idle connections, and busy ones after their mail; `hard` cuts connections with mail in flight too. */
  close(hard = false): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.pool.close(hard);
  }

  private counted(connection: RelayConnection): RelayConnection {
    return {
      send: async (message, next) => {
        const outcome = await connection.send(message, next);
        this.outcomes[outcome.kind]++;
        return outcome;
      },
      release: () => connection.release(),
    };
  }

  private onAnswer(): void {
    this.answeredAt = performance.now();
    this.failures = 0;
  }

  private onFailure(reason: string, startedAt: number): void {
    if (this.closed || this.left) return;
    const now = performance.now();
    const isSilent = this.answeredAt < Math.min(startedAt, now - SILENCE_MS);
    if (this.pool.size === 0 || isSilent) this.leaveOut(reason);
    else this.noNewUntil = now + this.pauseMs * FIRST_PAUSE;
  }

  private leaveOut(reason: string): void {
    const pauseMs = Math.min(this.pauseMs, this.pauseMs * FIRST_PAUSE * 2 ** this.failures++);
    this.left = { reason, until: performance.now() + pauseMs };
    this.timer = setTimeout(() => void this.probe(), pauseMs).unref();
  }

  /** Has no signal of a caller: one that stops waiting must not fail the others. */
  private async probe(): Promise<void> {
    const session = await this.pool.openSession();
    if (this.closed) {
      if (!('kind' in session)) session.close();
    } else if ('kind' in session) this.leaveOut(session.reason);
    else {
      this.left = undefined;
      await this.pool.giveBack(session, true);
    }
  }
}
