// Leases due mail, has it prepared and puts it in the queue.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { recipientDomain } from '../../platform/smtp/domain-rates.ts';
import type { Relays } from '../../platform/smtp/relays.ts';
import type { Timings } from '../../platform/timings.ts';
import { ByteBudget } from './byte-budget.ts';
import type { CampaignLeases } from './campaign-leases.ts';
import { QUARANTINE_REASON } from './composer.ts';
import type { DomainPace } from './domain-pace.ts';
import type { SendingLedger } from './ledger.ts';
import type { LeasedMail, QueuedMail } from './mail.ts';
import { policies } from './policy.ts';
import type { OnReady, Preparation } from './prepare.ts';
import { LARGE_BYTES, type Line, MailQueue } from './queue.ts';
import type { RateLimit } from './rate-limit.ts';

interface LeasedRow {
  priority: number;
  id: string;
  projectId: string;
  relay: string | null;
  isRetryOfUnknown: boolean;
  bodyBytes: number;
}

// Transactional mail first, and mail of workflows in the room that is left.
const lease = statement<LeasedRow>(
  'sending-lease',
  `with transactional as materialized (select * from lease_mails($1, 0::smallint, $2))
   select 0 as priority, * from transactional
   union all
   select 1, * from lease_mails($1, 1::smallint, $2::integer - (select count(*)::integer from transactional))`,
);

/** Mails per lease and preparation. */
const GROUP = { urgent: 50, campaign: 100 } as const;
/** Leased ahead of the connections: enough that none waits, few enough for memory and for fair shares. */
const AHEAD = { urgent: 150, campaign: 300 } as const;
/** The mail of a line that is being prepared or waits for connections; beyond it no more of that line is leased. */
const AHEAD_BYTES = 24 * 1024 * 1024;
/** Large bodies are prepared one by one, within this, and keep their part of it until they are sent. */
const LARGE_BUDGET = 16 * 1024 * 1024;
/** The shortest time between two leases without a backlog: many mails share a lease, and a single one waits for none. */
const LEASE_GAP_MS = 4;
/** A mail that cannot be prepared waits for an operator. It is not offered to a relay, so this is no attempt. */
const UNPREPARED_SECONDS = 60;

export interface MailLeasesOptions {
  db: Db;
  senderId: string;
  relays: Relays;
  preparation: Preparation;
  pace: DomainPace;
  /** Of all mail. */
  rate: RateLimit | undefined;
  ledger: SendingLedger;
  campaigns: CampaignLeases;
  /** The number of connections that ask for mail. */
  connections: number;
  /** Aborted: lease nothing more and hand out nothing more. */
  stopping: AbortSignal;
  /** Called after each lease of a campaign's mail. */
  onCampaignLeased?: (campaignId: string) => void;
  /** Called for a mail that could not be composed, and fails for that. */
  onQuarantined?: (mail: LeasedMail) => void;
  /** Called when mail may be leased that is not known here. */
  onUnknownLeases?: () => void;
  /** Called when there is no due mail, and none on its way. */
  onIdle?: () => void;
  onError: (error: unknown) => void;
  /** Makes the pauses between polls longer where it returns more than 1. */
  pollFactor?: () => number;
  timings: Timings;
}

export class MailLeases {
  /** What is prepared. */
  readonly queue: MailQueue;
  private readonly options: MailLeasesOptions;
  private readonly preparing: Record<Line, number> = { urgent: 0, campaign: 0 };
  /** Estimated by the size of the body. */
  private readonly preparingBytes: Record<Line, number> = { urgent: 0, campaign: 0 };
  private readonly wakeLine: Partial<Record<Line, () => void>> = {};
  private readonly isWoken: Record<Line, boolean> = { urgent: false, campaign: false };
  private readonly isDry: Record<Line, boolean> = { urgent: false, campaign: false };
  /** The last lease left due mail behind. */
  private readonly hasBacklog: Record<Line, boolean> = { urgent: false, campaign: false };
  private readonly largeMails = new ByteBudget(LARGE_BUDGET);
  private readonly preparations = new Set<Promise<void>>();
  /** Preparation failed, and would fail again at once. */
  private readonly isUnprepared: Record<Line, boolean> = { urgent: false, campaign: false };
  /** When mail to slowed domains was last returned, by `performance.now()`. */
  private readonly slowedAt: Record<Line, number> = {
    urgent: Number.NEGATIVE_INFINITY,
    campaign: Number.NEGATIVE_INFINITY,
  };
  private readonly done: Promise<unknown>;
  /** A lease failed. It may have been committed all the same, with its answer lost. */
  private leaseFailed = false;

  constructor(options: MailLeasesOptions) {
    this.options = options;
    const { relays, pace, rate, stopping } = options;
    this.queue = new MailQueue({
      relays,
      pace,
      rate,
      stopping,
      onTaken: (line) => this.wakeUp(line),
      onWaiting: () => this.reportIfIdle(),
    });
    stopping.addEventListener('abort', () => this.wakeAll(), { once: true });
    this.done = Promise.all([this.keepLeasing('urgent'), this.keepLeasing('campaign')]);
  }

  /** There may be due mail that is no campaign's. */
  wake(): void {
    this.wakeUp('urgent');
  }

  /** There may be another campaign to send. */
  wakeForCampaigns(): void {
    this.options.campaigns.refresh();
    this.wakeUp('campaign');
  }

  /** Gives up the prepared mail of a campaign that is not sending any more. */
  async dropCampaign(campaignId: string): Promise<void> {
    this.options.campaigns.forget(campaignId);
    await this.release(this.queue.removeCampaign(campaignId));
  }

  /** Resolves when nothing is being leased or prepared any more; all that is still queued goes back to the ledger. */
  async close(): Promise<void> {
    await this.done;
    const left = this.queue.removeAll();
    await Promise.all(this.preparations);
    await this.release(left);
  }

  private async release(mails: QueuedMail[]): Promise<void> {
    await Promise.all(mails.map(({ id }) => this.options.ledger.release({ id })));
  }

  private wakeAll(): void {
    this.wakeUp('urgent');
    this.wakeUp('campaign');
  }

  private wakeUp(line: Line): void {
    this.isWoken[line] = true;
    this.wakeLine[line]?.();
  }

  /** Campaigns have a loop of their own, so that leasing transactional mail never waits for their preparation. */
  private async keepLeasing(line: Line): Promise<void> {
    const { stopping, onError, pollFactor = () => 1 } = this.options;
    const { poll, retry } = this.options.timings.sender;
    while (!stopping.aborted) {
      this.isWoken[line] = false;
      if (this.isUnprepared[line]) await this.waitForPreparation(line);
      let leased = 0;
      try {
        if (this.room(line) < GROUP[line]) this.returnSlowed(line);
        if (this.mayLease(line)) leased = line === 'urgent' ? await this.leaseUrgent() : await this.leaseCampaign();
        if (this.leaseFailed) this.options.onUnknownLeases?.();
      } catch (error) {
        this.leaseFailed = true;
        onError(error);
        await this.pause(line, retry);
      }
      this.isDry[line] = leased === 0;
      if (leased === 0) this.reportIfIdle();
      if (leased > 0 && line === 'urgent' && !this.hasBacklog.urgent) await sleep(LEASE_GAP_MS);
      else if (leased === 0) {
        const longest = poll * pollFactor();
        await this.pause(line, line === 'urgent' ? longest : this.options.campaigns.waitMs(longest));
      }
    }
  }

  private reportIfIdle(): void {
    const { queue, preparing, isDry } = this;
    if (!isDry.urgent || !isDry.campaign || queue.readyCount + preparing.urgent + preparing.campaign > 0) return;
    if (queue.waitingConnections === this.options.connections) this.options.onIdle?.();
  }

  /** With a backlog, waits for room for a whole group: a lease costs about the same for one mail as for fifty. */
  private mayLease(line: Line): boolean {
    return !this.isUnprepared[line] && this.room(line) >= (this.hasBacklog[line] ? GROUP[line] : 1);
  }

  /** Pauses, then tries to render. Until that works nothing is leased: it would only go back to the ledger. */
  private async waitForPreparation(line: Line): Promise<void> {
    const { stopping, preparation, timings, onError } = this.options;
    try {
      await sleep(timings.sender.retry, undefined, { signal: stopping });
      await preparation.check();
      this.isUnprepared[line] = false;
    } catch (error) {
      if (!stopping.aborted) onError(error);
    }
  }

  private room(line: Line): number {
    const bytes = this.queue.bytesOf(line) + this.preparingBytes[line];
    return bytes > AHEAD_BYTES ? 0 : AHEAD[line] - this.queue.countOf(line) - this.preparing[line];
  }

  private async pause(line: Line, ms: number): Promise<void> {
    if (this.isWoken[line] || this.options.stopping.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wakeLine[line] = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    delete this.wakeLine[line];
  }

  private async leaseUrgent(): Promise<number> {
    const { db, senderId, preparation } = this.options;
    const limit = Math.min(GROUP.urgent, this.room('urgent'));
    const rows = await lease(db, [senderId, limit]);
    this.hasBacklog.urgent = rows.length === limit;
    if (rows.length === 0) return 0;
    faultPoint('mail-leased');
    const mails = rows.map(
      ({ id, priority, projectId, relay, isRetryOfUnknown: isRetry }): LeasedMail => ({
        id,
        projectId,
        campaignId: null,
        policy: priority === 0 ? policies.TRANSACTIONAL : policies.WORKFLOW,
        relay: isRetry && relay !== null ? relay : undefined,
      }),
    );
    const sendable = this.withoutRemovedRelays(mails);
    const bytesOf = new Map(rows.map(({ id, bodyBytes: bytes }) => [id, bytes]));
    const isLarge = ({ id }: LeasedMail) => (bytesOf.get(id) ?? 0) > LARGE_BYTES;
    const small = sendable.filter((mail) => !isLarge(mail));
    this.prepare('urgent', small, (ids, ready) => preparation.prepare(ids, ready));
    for (const mail of sendable.filter(isLarge))
      this.prepare('urgent', [mail], (ids, ready) =>
        this.largeMails.run(bytesOf.get(mail.id) ?? 0, () => preparation.prepare(ids, ready)),
      );
    return rows.length;
  }

  private async leaseCampaign(): Promise<number> {
    const { campaigns, preparation, onCampaignLeased } = this.options;
    const limit = Math.min(GROUP.campaign, this.room('campaign'));
    const leased = await campaigns.leaseNext(limit);
    this.hasBacklog.campaign = leased?.mails.length === limit;
    if (!leased) return 0;
    faultPoint('mail-leased');
    const { campaignId, projectId, bodyBytes, mails } = leased;
    onCampaignLeased?.(campaignId);
    const sendable = mails.filter(({ id, email }) => !this.isSlowed(id, recipientDomain(email ?? ''), campaignId));
    const policy = policies.CAMPAIGN;
    this.prepare(
      'campaign',
      sendable.map(({ id }) => ({ id, policy, projectId, campaignId, relay: undefined })),
      (_ids, ready) => preparation.prepareCampaign(campaignId, sendable, ready),
      bodyBytes,
    );
    return mails.length;
  }

  /**
   * Makes room, at most once a second: mail that was leased before its domain was slow would keep all other mail from
   * being leased, and goes back to the ledger.
   */
  private returnSlowed(line: Line): void {
    if (performance.now() < this.slowedAt[line] + this.options.timings.sender.poll) return;
    this.slowedAt[line] = performance.now();
    this.queue.removeThose(line, ({ id, domain, campaignId }) => this.isSlowed(id, domain, campaignId));
  }

  /** Gives a mail back to the ledger if its domain is so slow that it would wait long here, in the way of others. */
  private isSlowed(id: string, domain: string, campaignId: string | null): boolean {
    const { ledger, onError } = this.options;
    const retryAfterSeconds = this.queue.slowDomains.retryAfter(domain, campaignId);
    if (retryAfterSeconds === undefined) return false;
    const reason = `sending to ${domain} is throttled; it will be sent later`;
    ledger.release({ id, status: 'PENDING', reason, retryAfterSeconds }).catch(onError);
    return true;
  }

  /** A mail with an unknown outcome may only go to the same relay again. Where that is gone, it stays unknown. */
  private withoutRemovedRelays(mails: LeasedMail[]): LeasedMail[] {
    const { relays, ledger, onError } = this.options;
    return mails.filter(({ id, relay }) => {
      if (relay === undefined || relays.byName(relay)) return true;
      const reason = `its outcome at ${relay} is unknown, and that relay is no longer configured`;
      ledger.release({ id, status: 'UNKNOWN', reason }).catch(onError);
      return false;
    });
  }

  /** Not awaited: the next mails are leased meanwhile. */
  private prepare(
    line: Line,
    mails: LeasedMail[],
    work: (ids: string[], ready: OnReady) => Promise<void>,
    bodyBytes = 0,
  ): void {
    if (mails.length === 0) return;
    const byId = new Map(mails.map((mail) => [mail.id, mail]));
    this.preparing[line] += mails.length;
    this.preparingBytes[line] += mails.length * bodyBytes;
    const ready: OnReady = (prepared) => {
      const mail = byId.get(prepared.id);
      if (!mail) return undefined;
      byId.delete(prepared.id);
      this.preparing[line]--;
      this.preparingBytes[line] -= bodyBytes;
      faultPoint('mail-prepared');
      return this.add({ ...mail, prepared, domain: recipientDomain(prepared.to ?? '') });
    };
    const preparation = work(
      mails.map(({ id }) => id),
      ready,
    )
      .catch((error) => {
        this.isUnprepared[line] = true;
        this.options.onError(error);
      })
      .finally(() => {
        this.preparations.delete(preparation);
        // Not prepared because the database failed, or because the mail is gone: leased again later, if it is still there.
        this.preparing[line] -= byId.size;
        this.preparingBytes[line] -= byId.size * bodyBytes;
        for (const id of byId.keys()) this.options.ledger.release({ id }).catch(this.options.onError);
        this.wakeUp(line);
      });
    this.preparations.add(preparation);
  }

  /** Returns a promise for a large mail, which resolves when it leaves the queue. */
  private add(mail: QueuedMail): Promise<void> | undefined {
    if (this.options.stopping.aborted) {
      this.options.ledger.release({ id: mail.id }).catch(this.options.onError);
      return undefined;
    }
    if (mail.policy !== policies.CAMPAIGN && this.isSlowed(mail.id, mail.domain, null)) return undefined;
    const { message } = mail.prepared;
    if ('kind' in message && message.kind === 'deferred') {
      const { reason } = message;
      const waiting = { id: mail.id, status: 'PENDING', reason, retryAfterSeconds: UNPREPARED_SECONDS } as const;
      this.options.ledger.release(waiting).catch(this.options.onError);
      return undefined;
    }
    if ('kind' in message && message.reason === QUARANTINE_REASON) this.options.onQuarantined?.(mail);
    return this.queue.add(mail);
  }
}
