import type { Settings } from '../settings.ts';
import { Relay } from './relay.ts';
import type { SmtpTimeouts } from './session.ts';

/** A rate limit that all processes share. */
export interface SharedRate {
  /** The milliseconds after which to ask again; 0 when a mail may leave now. Reserves the place of the next mail. */
  delay(): number;
  /** Like `delay`, for a caller that does not want a place. */
  estimate(): number;
  /** Takes the place of one mail. */
  take(): void;
}

export interface RelaysOptions {
  /** Makes the limit of a relay with a `ratePerSecond`; the key is `relay/<name>`. */
  limitOf?: (key: string, perSecond: number) => SharedRate;
  clock?: () => number;
}

/** The position of a relay in start-time fair queueing. */
interface Share {
  rate: SharedRate | undefined;
  /** The virtual time at which its last mail ends. */
  finish: number;
  tookAt: number;
  /** Since when others go first. Undefined: asked nothing since a mail was last taken. */
  heldSince: number | undefined;
}

/** A relay that is behind its share and takes nothing for this long holds the others back no longer. */
const HOLD_MS = 100;

/**
 * The relays of `SMTP_URL`. Mail is divided by their weights with start-time fair queueing: of the relays that can take a
 * mail now, the one that has taken the least in relation to its weight goes first. A relay that is left out, at its rate
 * or slow to take its turn does not hold the others back, and does not catch up later.
 */
export class Relays {
  readonly all: readonly Relay[];
  private readonly shares: Map<Relay, Share>;
  private readonly clock: () => number;
  /** The start of the mail that was taken last. */
  private virtualTime = 0;

  constructor(relays: readonly Relay[], { limitOf, clock = () => performance.now() }: RelaysOptions = {}) {
    this.all = relays;
    this.clock = clock;
    this.shares = new Map(
      relays.map((relay) => {
        const { name, ratePerSecond } = relay;
        return [relay, newShare(ratePerSecond ? limitOf?.(`relay/${name}`, ratePerSecond) : undefined)];
      }),
    );
  }

  static fromSettings(
    settings: Pick<Settings, 'relays' | 'smtpMaxConnections' | 'smtpAllowPlainAuth' | 'smtpRelayPauseMs'>,
    { timeouts = {}, ...options }: RelaysOptions & { timeouts?: Partial<SmtpTimeouts> } = {},
  ): Relays {
    const { smtpMaxConnections, smtpAllowPlainAuth: allowPlainAuth, smtpRelayPauseMs: pauseMs } = settings;
    const relays = settings.relays.map(
      ({ maxConnections = smtpMaxConnections, ...relay }) =>
        new Relay({ ...relay, maxConnections, pauseMs, allowPlainAuth, timeouts }),
    );
    return new Relays(relays, options);
  }

  byName(name: string): Relay | undefined {
    return this.all.find((relay) => relay.name === name);
  }

  /** Whether the relay may take one more mail now. For mail that only this relay may take, ask `canTake`. */
  mayTake(relay: Relay, isConnected = false): boolean {
    return this.delayOf(relay, isConnected) === 0;
  }

  /**
   * The milliseconds after which to ask `mayTake` again, if no other relay takes a mail before. `isConnected`: the caller
   * has a connection to the relay.
   */
  delayOf(relay: Relay, isConnected = false): number {
    const own = this.shareOf(relay);
    const unavailable = relay.delay(isConnected) || (own.rate?.delay() ?? 0);
    if (unavailable > 0 || this.all.length === 1) return unavailable;
    const now = this.clock();
    let delay = 0;
    for (const other of this.all) {
      const share = this.shareOf(other);
      if (other === relay || this.startOf(share) >= this.startOf(own)) continue;
      if (other.delay() > 0 || (share.rate?.estimate() ?? 0) > 0) continue;
      own.heldSince ??= now;
      delay = Math.max(delay, Math.max(own.heldSince, share.tookAt) + HOLD_MS - now);
    }
    return delay;
  }

  /** Whether the relay is usable and below its rate, whatever its share. */
  canTake(relay: Relay, isConnected = false): boolean {
    return relay.delay(isConnected) === 0 && (this.shareOf(relay).rate?.delay() ?? 0) === 0;
  }

  /** Records that the relay takes a mail now. */
  took(relay: Relay): void {
    const share = this.shareOf(relay);
    share.rate?.take();
    const start = this.startOf(share);
    this.virtualTime = Math.max(this.virtualTime, start);
    share.finish = start + 1 / relay.weight;
    share.tookAt = this.clock();
    for (const each of this.shares.values()) each.heldSince = undefined;
  }

  close(hard?: boolean): void {
    for (const relay of this.all) relay.close(hard);
  }

  /** The virtual time at which the relay's next mail starts. Unused time is lost. */
  private startOf({ finish }: Share): number {
    return Math.max(finish, this.virtualTime);
  }

  private shareOf(relay: Relay): Share {
    const share = this.shares.get(relay);
    if (!share) throw new Error(`unknown relay ${relay.name}`);
    return share;
  }
}

const newShare = (rate: SharedRate | undefined): Share => ({
  rate,
  finish: 0,
  tookAt: Number.NEGATIVE_INFINITY,
  heldSince: undefined,
});
