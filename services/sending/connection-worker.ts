// Sends mail over one SMTP connection of a relay, one mail after the other.
import { setTimeout as sleep } from 'node:timers/promises';
import { faultPoint } from '../../platform/fault-points.ts';
import type { SendOutcome } from '../../platform/smtp/outcome.ts';
import type { Relay, RelayConnection } from '../../platform/smtp/relay.ts';
import { inSpan, isTracing } from '../../platform/tracing.ts';
import type { DomainPace } from './domain-pace.ts';
import type { SenderLease } from './lease.ts';
import type { BeginVerdict, SendingLedger } from './ledger.ts';
import type { QueuedMail } from './mail.ts';
import { type Attempt, resultOf } from './outcome.ts';
import type { MailQueue } from './queue.ts';

export interface ConnectionOptions {
  relay: Relay;
  queue: MailQueue;
  ledger: SendingLedger;
  pace: DomainPace;
  lease: SenderLease;
  stopping: AbortSignal;
  /** Closes the connection at once. */
  cut?: AbortSignal | undefined;
  /** The most campaign mails that have begun and not ended. Other mail does not begin ahead. */
  campaignInFlight: number;
  /** Reacts to a mail that may not begin. */
  onNotBegun: (mail: QueuedMail, verdict: BeginVerdict) => void;
  /** Between two tries of a mail that could not begin because the database failed. */
  databaseRetryMs: number;
}

interface MailInFlight {
  mail: QueuedMail;
  attempt: Attempt;
  /** By `performance.now()`. */
  begunAt: number;
}

interface BeginningMail {
  mail: QueuedMail;
  begun: Promise<MailInFlight | undefined>;
}

const NOT_OFFERED = { kind: 'unreachable', reason: 'stopped before it was sent' } as const;

/** Works for one connection until the queue stops. A relay has as many of them as it may have connections. */
export class ConnectionWorker {
  private readonly options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    this.options = options;
  }

  async run(): Promise<void> {
    const { relay, queue, cut } = this.options;
    for (;;) {
      const mail = await queue.next(relay);
      if (!mail) return;
      // The connection comes first: a mail that cannot be offered does not begin.
      const connection = await relay.connect(cut);
      if ('kind' in connection) {
        queue.giveBack(mail);
        continue;
      }
      faultPoint('connected');
      try {
        await this.sendOver(connection, mail);
      } finally {
        await connection.release();
      }
    }
  }

  /** Sends this mail and further ones, as long as there are some and the connection lives. */
  private async sendOver(connection: RelayConnection, first: QueuedMail): Promise<void> {
    const { relay, queue } = this.options;
    let current = await this.begin(first);
    const ahead: BeginningMail[] = [];
    for (;;) {
      if (!current) {
        const mail = queue.take(relay, { isConnected: true });
        if (!mail) return;
        current = await this.begin(mail);
        continue;
      }
      this.beginAhead(current, ahead);
      const outcome = await this.offer(connection, current, ahead[0]?.mail);
      this.end(current, outcome);
      if (outcome.kind === 'unreachable') return this.giveUp(ahead);
      const next = ahead.shift();
      if (!next) {
        current = undefined;
        continue;
      }
      // Asked for before the next mail has begun: the ledger begins both with one write.
      this.beginAhead(current, ahead);
      current = await next.begun;
      // The relay awaits a mail that may not be sent after all: only a new connection gets over that.
      if (!current) return this.giveUp(ahead);
    }
  }

  /** Begins mails while another one of the same policy is in flight, if the policy allows it. */
  private beginAhead({ attempt }: MailInFlight, ahead: BeginningMail[]): void {
    const { relay, queue, campaignInFlight } = this.options;
    while (attempt.policy.beginsAhead && ahead.length < campaignInFlight - 1) {
      const mail = queue.take(relay, { isConnected: true, onlyCampaign: true });
      if (!mail) return;
      ahead.push({ mail, begun: this.begin(mail) });
    }
  }

  /** Mails that have begun, and are not offered. */
  private async giveUp(ahead: BeginningMail[]): Promise<void> {
    for (const { begun } of ahead) {
      const mail = await begun;
      if (mail) this.end(mail, NOT_OFFERED);
    }
  }

  private async begin(mail: QueuedMail): Promise<MailInFlight | undefined> {
    const { ledger, relay, queue, stopping, onNotBegun } = this.options;
    const verdict = await ledger.begin(mail, relay.name);
    if (verdict.verdict === 'go') {
      faultPoint('after-begin');
      return { mail, attempt: verdict.attempt, begunAt: performance.now() };
    }
    if (verdict.verdict === 'failed') {
      await sleep(this.options.databaseRetryMs, undefined, { signal: stopping }).catch(() => {});
      queue.giveBack(mail);
    } else queue.leave(mail);
    onNotBegun(mail, verdict);
    return undefined;
  }

  private async offer(
    connection: RelayConnection,
    { mail }: MailInFlight,
    ahead: QueuedMail | undefined,
  ): Promise<SendOutcome> {
    const { message } = mail.prepared;
    if ('kind' in message) return message;
    if (!this.options.lease.isValid()) return { kind: 'unreachable', reason: 'the right to send was lost' };
    faultPoint('before-data');
    const next = ahead?.prepared.message;
    const send = () => connection.send(message, next && 'raw' in next ? next : undefined);
    const outcome = isTracing() ? await this.traced(mail, send) : await send();
    faultPoint('after-data');
    return outcome;
  }

  private traced({ id, domain, campaignId }: QueuedMail, send: () => Promise<SendOutcome>): Promise<SendOutcome> {
    const attributes = {
      'server.address': this.options.relay.name,
      'everpost.domain': domain,
      'everpost.campaign_id': campaignId ?? undefined,
    };
    return inSpan('smtp', { row: id, kind: 'client', attributes }, async (span) => {
      const outcome = await send();
      span.set({ 'everpost.outcome': outcome.kind });
      if (outcome.kind !== 'sent') span.fail(outcome.kind);
      return outcome;
    });
  }

  private end({ mail, attempt, begunAt }: MailInFlight, outcome: SendOutcome): void {
    const { ledger, pace, queue } = this.options;
    const { domain } = mail;
    if (outcome.kind === 'sent') pace.onAccepted(domain);
    if (outcome.kind === 'deferred' && outcome.concerns === 'domain') pace.onDeferred(domain, begunAt);
    ledger.end({ mail, attempt, result: resultOf(attempt, outcome) });
    queue.leave(mail);
  }
}
