// Prepared mail that waits for a connection: handed out by priority and fair shares.
import type { Relay } from '../../platform/smtp/relay.ts';
import type { Relays } from '../../platform/smtp/relays.ts';
import type { DomainPace } from './domain-pace.ts';
import { FairQueue } from './fair-queue.ts';
import type { LeasedMail, QueuedMail } from './mail.ts';
import { policies } from './policy.ts';
import type { RateLimit } from './rate-limit.ts';
import { SlowDomains } from './slow-domains.ts';

/** Campaign mail is leased and counted apart from all other mail. */
export type Line = 'urgent' | 'campaign';

/** A mail with more has to leave the queue before others of its size are prepared. */
export const LARGE_BYTES = 64 * 1024;
/** The longest time until waiting connections are looked at again, while mail waits for a permit, a relay or a domain. */
const LONGEST_WAIT_MS = 1_000;

export interface MailQueueOptions {
  relays: Relays;
  pace: DomainPace;
  /** Of all mail. */
  rate: RateLimit | undefined;
  /** Aborted: hand out nothing more. */
  stopping: AbortSignal;
  /** Called when a connection has taken a mail. */
  onTaken: (line: Line) => void;
  /** Called when a connection waits for a mail. */
  onWaiting: () => void;
}

export interface TakeOptions {
  /** The caller has a connection to the relay. */
  isConnected?: boolean;
  /** Only mail of a campaign, and only if no other mail waits. */
  onlyCampaign?: boolean;
}

interface Waiter {
  relay: Relay;
  resolve: (mail: QueuedMail | undefined) => void;
}

export class MailQueue {
  private readonly options: MailQueueOptions;
  /** By priority: transactional, workflow, campaign. */
  private readonly ready = [new FairQueue(laneOf), new FairQueue(laneOf), new FairQueue(laneOf)];
  private readonly lines: Record<Line, FairQueue<QueuedMail>[]> = {
    urgent: this.ready.slice(0, policies.CAMPAIGN.priority),
    campaign: this.ready.slice(policies.CAMPAIGN.priority),
  };
  /** By line, so that large campaign mail never keeps other mail from being leased. */
  private readonly bytes: Record<Line, number> = { urgent: 0, campaign: 0 };
  private readonly waiters: Waiter[] = [];
  readonly slowDomains: SlowDomains;
  /** Called when a large mail leaves the queue. */
  private readonly onLargeTaken = new Map<string, () => void>();
  private retryTimer: NodeJS.Timeout | undefined;
  private retryAt = 0;

  constructor(options: MailQueueOptions) {
    this.options = options;
    this.slowDomains = new SlowDomains(options.pace);
    options.stopping.addEventListener('abort', () => this.stop(), { once: true });
  }

  get readyCount(): number {
    return this.ready.reduce((sum, { size }) => sum + size, 0);
  }

  get waitingConnections(): number {
    return this.waiters.length;
  }

  countOf(line: Line): number {
    return this.lines[line].reduce((sum, { size }) => sum + size, 0);
  }

  bytesOf(line: Line): number {
    return this.bytes[line];
  }

  /** Returns a promise for a large mail, which resolves when it leaves the queue. */
  add(mail: QueuedMail): Promise<void> | undefined {
    this.remember(mail);
    this.queueOf(mail).put(groupOf(mail), mail);
    const taken =
      bytesOf(mail) > LARGE_BYTES ? new Promise<void>((resolve) => this.onLargeTaken.set(mail.id, resolve)) : undefined;
    this.dispatch();
    return taken;
  }

  /** Waits for a mail for this relay. Resolves with undefined when the queue stops. */
  next(relay: Relay): Promise<QueuedMail | undefined> {
    if (this.options.stopping.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.waiters.push({ relay, resolve });
      this.dispatch();
      this.options.onWaiting();
    });
  }

  /** Returns the best mail that this relay may send now. */
  take(relay: Relay, { isConnected = false, onlyCampaign = false }: TakeOptions = {}): QueuedMail | undefined {
    const { relays, rate, pace, stopping } = this.options;
    if (stopping.aborted || this.readyCount === 0) return undefined;
    if (onlyCampaign && (this.waiters.length > 0 || this.countOf('urgent') > 0)) return undefined;
    const delay = relays.delayOf(relay, isConnected);
    if (delay > 0) this.dispatchLater(delay);
    // A mail that only this relay may have waits for no other relay's share.
    if (delay > 0 && !relays.canTake(relay, isConnected)) return undefined;
    const isAlone = this.slowDomains.queuedDomains === 1;
    // Asked once for all mail, and once for each domain.
    let rateMs: number | undefined;
    const heldDomains = new Set<string>();
    const mayLeave = ({ relay: only, domain }: QueuedMail): boolean => {
      if (heldDomains.has(domain) || (only === undefined ? delay > 0 : only !== relay.name)) return false;
      rateMs ??= rate?.delay(this.readyCount) ?? 0;
      const waitMs = rateMs || pace.take(domain, { isAlone });
      if (waitMs === 0) return true;
      heldDomains.add(domain);
      this.dispatchLater(waitMs);
      return false;
    };
    for (const queue of this.ready) {
      const mail = queue.take(mayLeave);
      if (!mail) continue;
      rate?.take();
      relays.took(relay);
      pace.enter(mail.domain);
      this.forget(mail);
      this.options.onTaken(lineOf(mail));
      return mail;
    }
    return undefined;
  }

  /** A mail that was taken is done with its connection. */
  leave({ domain }: QueuedMail): void {
    this.options.pace.leave(domain);
    this.dispatch();
  }

  /** Takes a mail back that no connection was found for. */
  giveBack(mail: QueuedMail): void {
    this.options.pace.leave(mail.domain);
    this.remember(mail);
    this.queueOf(mail).putFirst(groupOf(mail), mail);
    this.dispatch();
  }

  /** Removes the mails of a line that this is true of. It is asked from the last to the first. */
  removeThose(line: Line, leaves: (mail: QueuedMail) => boolean): void {
    for (const queue of this.lines[line])
      queue.takeThose((mail) => {
        if (!leaves(mail)) return false;
        // At once, so that the answer about the next mail counts without it.
        this.forget(mail);
        return true;
      });
  }

  removeCampaign(campaignId: string): QueuedMail[] {
    return this.removeFrom((queue) => queue.takeGroup(campaignId));
  }

  removeAll(): QueuedMail[] {
    clearTimeout(this.retryTimer);
    return this.removeFrom((queue) => queue.takeAll());
  }

  private removeFrom(remove: (queue: FairQueue<QueuedMail>) => QueuedMail[]): QueuedMail[] {
    const mails = this.ready.flatMap(remove);
    for (const mail of mails) this.forget(mail);
    return mails;
  }

  private stop(): void {
    for (const { resolve } of this.waiters.splice(0)) resolve(undefined);
  }

  private dispatchLater(ms: number): undefined {
    const at = performance.now() + Math.min(ms, LONGEST_WAIT_MS);
    if (this.retryTimer && this.retryAt <= at) return;
    clearTimeout(this.retryTimer);
    this.retryAt = at;
    this.retryTimer = setTimeout(() => {
      this.retryTimer = undefined;
      this.dispatch();
    }, at - performance.now());
  }

  /** Call it when a mail, a connection, a permit or a domain may have become free. */
  readonly dispatch = (): void => {
    const without = new Set<Relay>();
    for (let index = 0; index < this.waiters.length && this.readyCount > 0; ) {
      const waiter = this.waiters[index];
      const mail = waiter && !without.has(waiter.relay) && this.take(waiter.relay);
      if (!waiter || !mail) {
        // Other connections to this relay would get none either.
        if (waiter) without.add(waiter.relay);
        index++;
        continue;
      }
      this.waiters.splice(index, 1);
      waiter.resolve(mail);
      // The next mail may be the share of a relay that was passed over.
      without.clear();
      index = 0;
    }
  };

  private queueOf({ policy }: LeasedMail): FairQueue<QueuedMail> {
    const queue = this.ready[policy.priority];
    if (!queue) throw new Error(`no queue for priority ${policy.priority}`);
    return queue;
  }

  private remember(mail: QueuedMail): void {
    this.slowDomains.add(mail.domain);
    this.bytes[lineOf(mail)] += bytesOf(mail);
  }

  private forget(mail: QueuedMail): void {
    this.slowDomains.remove(mail.domain);
    this.bytes[lineOf(mail)] -= bytesOf(mail);
    this.onLargeTaken.get(mail.id)?.();
    this.onLargeTaken.delete(mail.id);
  }
}

const bytesOf = ({ prepared: { message } }: QueuedMail): number => ('raw' in message ? message.raw.length : 0);

const lineOf = ({ policy }: LeasedMail): Line => (policy === policies.CAMPAIGN ? 'campaign' : 'urgent');

/** All that decides whether a mail may leave, but for what holds for all mail. */
const laneOf = ({ domain, relay }: QueuedMail): string => (relay === undefined ? domain : `${domain} ${relay}`);

/** Campaigns share the connections fairly, other mail by project. */
const groupOf = ({ campaignId, projectId }: LeasedMail): string => campaignId ?? projectId;
