// Sends mails of a campaign one after the other over one SMTP connection.
import type { MailConnection, Mailer, SendOutcome } from '../../platform/smtp/mailer.ts';
import type { MailInFlight } from '../emails/delivery-settlement.ts';
import { CAMPAIGN_PRIORITY } from './batches.ts';
import type { RecipientSource, SourcedMail } from './source.ts';
import type { Throttle } from './throttle.ts';
import type { Begin } from './turn.ts';

export interface BegunMail {
  sourced: SourcedMail;
  mail: MailInFlight;
}

/** What the lanes of a slice share. */
export interface LaneWork {
  mailer: Mailer;
  source: RecipientSource;
  throttle: Throttle;
  /** Begin nothing new. */
  stopping: AbortSignal;
  /** Cut what is on the wire. */
  cutting: AbortSignal;
  /** Never throws. */
  begin(sourced: SourcedMail, signal: AbortSignal): Promise<Begin | undefined>;
  /** Undefined: it may not leave. */
  accept(begin: Begin | undefined): MailInFlight | undefined;
  postpone(sourced: SourcedMail, domain: string): Promise<void>;
  /** Not waited for, as is the other. */
  settle(begun: BegunMail, outcome: SendOutcome): void;
  /** It was not even offered. */
  putBack(begun: BegunMail): void;
  /** It is no longer ours to send. */
  passOver(sourced: SourcedMail): void;
}

/** One mail of a campaign after the other. While one is on the wire the next one is begun. */
export class Lane {
  private readonly work: LaneWork;

  constructor(work: LaneWork) {
    this.work = work;
  }

  /** Goes on until there is no mail left, it is told to stop, or the server cannot be reached. */
  async run(): Promise<void> {
    const { mailer, stopping, putBack } = this.work;
    for (let begun = await this.beginNext(); begun; ) {
      if (!(await mailer.slots.take(CAMPAIGN_PRIORITY, stopping, domainOf(begun.sourced)))) return putBack(begun);
      begun = await this.talk(begun);
    }
  }

  /**
   * Sends this mail, and the next ones over the same connection while nobody else waits for one. Gives back a mail that
   * is begun and has no connection yet; undefined when this lane is over.
   */
  private async talk(first: BegunMail): Promise<BegunMail | undefined> {
    const { mailer, cutting, settle, putBack } = this.work;
    let current = first;
    const line = await mailer.connect(cutting);
    try {
      if ('kind' in line) {
        settle(current, line);
        return undefined;
      }
      for (let promised = this.promised(); promised; promised = this.promised()) {
        const asked = this.work.begin(promised, cutting);
        const outcome = await this.offer(line, current, promised);
        settle(current, outcome);
        const begun = this.begunOf(promised, await asked);
        if (outcome.kind === 'unreachable') {
          if (begun) putBack(begun);
          return undefined;
        }
        // Not waited for here, nor below: the connection is given back before.
        if (!begun) return this.beginNext();
        mailer.slots.pass(domainOf(current.sourced), domainOf(begun.sourced));
        current = begun;
      }
      const next = this.beginNext();
      // Waited for only when this mail is through: until then its failure must not count as nobody's.
      next.catch(() => {});
      const outcome = await this.offer(line, current, undefined);
      settle(current, outcome);
      if (outcome.kind !== 'unreachable') return next;
      const left = await next.catch(() => undefined);
      if (left) putBack(left);
      return undefined;
    } finally {
      if (!('kind' in line)) await line.release();
      mailer.slots.give(domainOf(current.sourced));
    }
  }

  /** The mail that this connection goes on with, where it may: its envelope goes along with the mail before it. */
  private promised(): SourcedMail | undefined {
    const { mailer, source, throttle } = this.work;
    const upcoming = source.peek();
    if (!upcoming || 'kind' in upcoming.ready.mail) return undefined;
    const domain = domainOf(upcoming);
    if (!mailer.slots.mayPass(domain) || isCrowded(mailer, domain) || !throttle.tryTake()) return undefined;
    return source.take();
  }

  /** The next mail that may leave. Undefined: there is none, or none any more. */
  private async beginNext(): Promise<BegunMail | undefined> {
    const { mailer, source, throttle, stopping } = this.work;
    for (;;) {
      // Whoever has leave already still uses it.
      if (!(await throttle.leave())) return undefined;
      const sourced = await source.next();
      if (!sourced) return undefined;
      const domain = domainOf(sourced);
      if (domain && isCrowded(mailer, domain)) {
        // Where the servers of a domain keep the relay, and so us, waiting, others go first.
        await this.work.postpone(sourced, domain);
        this.work.passOver(sourced);
        continue;
      }
      const begun = this.begunOf(sourced, await this.work.begin(sourced, stopping));
      if (begun || stopping.aborted) return begun;
    }
  }

  /** Undefined: it is not to be sent now, or by us. */
  private begunOf(sourced: SourcedMail, begin: Begin | undefined): BegunMail | undefined {
    const mail = this.work.accept(begin);
    if (mail) return { sourced, mail };
    if (!this.work.stopping.aborted) this.work.passOver(sourced);
    return undefined;
  }

  private offer(
    line: MailConnection,
    { sourced: { ready, batch } }: BegunMail,
    promised: SourcedMail | undefined,
  ): SendOutcome | Promise<SendOutcome> {
    if ('kind' in ready.mail) return ready.mail;
    if (!batch.lease.check()) return { kind: 'unreachable', reason: 'the lease was lost' };
    const next = promised?.ready.mail;
    return line.send(ready.mail, next && 'raw' in next ? next : undefined);
  }
}

const isCrowded = ({ slots }: Mailer, domain: string | undefined): boolean =>
  domain !== undefined && slots.isCrowded(domain);

const domainOf = ({ ready: { to } }: SourcedMail): string | undefined => to?.slice(to.lastIndexOf('@') + 1);
