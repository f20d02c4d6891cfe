// Sends due mail of all kinds and projects for some minutes.
import { setMaxListeners } from 'node:events';
import type { Db } from '../../db/connect.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import type { Logger } from '../../platform/logger.ts';
import { logFailure } from '../../platform/outages.ts';
import type { Relays } from '../../platform/smtp/relays.ts';
import { processTimings, type Timings } from '../../platform/timings.ts';
import { type AutoPauseLimits, checkCampaign, pauseCampaignItself } from '../campaigns/auto-pause.ts';
import { recordSlowedDomains } from '../campaigns/rates.ts';
import { CampaignLeases } from './campaign-leases.ts';
import { ConnectionWorker } from './connection-worker.ts';
import type { DomainPace } from './domain-pace.ts';
import { SenderLease } from './lease.ts';
import { type BeginVerdict, SendingLedger } from './ledger.ts';
import type { QueuedMail } from './mail.ts';
import { MailLeases } from './mail-leases.ts';
import { noResults, type ResultCounts, type ResultKind, resultKind } from './outcome.ts';
import type { Preparation } from './prepare.ts';
import { RateLimit } from './rate-limit.ts';
import { recoverMails } from './recovery.ts';

/** A campaign is checked for this long after its last lease or result: others may still come. */
const WATCH_MS = 10_000;
/** A campaign pauses itself after this many mails that could not be composed. */
const QUARANTINED_LIMIT = 3;
/** Blocked mail is released when its cause ends; until then nothing looks at it. */
const BLOCKED_SECONDS = 24 * 60 * 60;

export interface SenderDeps {
  db: Db;
  relays: Relays;
  pace: DomainPace;
  preparation: Preparation;
  limits: AutoPauseLimits;
  /** The most campaign mails of a connection that have begun and not ended, which is what a crash leaves in doubt. */
  campaignInFlight: number;
  sendRatePerSecond?: number | undefined;
  /** Whether sent mail is recorded for billing. */
  billing: boolean;
  log: Logger;
  onResult?: (kind: ResultKind) => void;
  /** Makes the pauses between polls longer where it returns more than 1. */
  pollFactor?: () => number;
  timings?: Timings;
}

export interface SendingTime {
  /** Leases no more mail after this long; what has begun is finished. */
  durationMs: number;
  /** Leases no more mail; what has begun is finished. */
  stop: AbortSignal;
  /** Cuts SMTP connections: mail that was offered and not answered gets an unknown outcome. */
  cut?: AbortSignal | undefined;
  /** Called while the sender works and may send. */
  heartbeat?: (counts: ResultCounts) => void;
  /** Ends the run when there is no due mail left, for tests. */
  untilIdle?: boolean;
}

/** The senders of a process share its connections, so it runs one at a time. */
export class Sender {
  private readonly deps: SenderDeps;
  private mailLeases: MailLeases | undefined;

  constructor(deps: SenderDeps) {
    this.deps = deps;
  }

  /** There may be due mail, or another campaign to send. Does nothing while no run is active. */
  wake(what: 'mail' | 'campaigns'): void {
    if (what === 'campaigns') this.mailLeases?.wakeForCampaigns();
    else this.mailLeases?.wake();
  }

  /** The mails that are prepared and wait for a connection. */
  get readyCount(): number {
    return this.mailLeases?.queue.readyCount ?? 0;
  }

  async run(time: SendingTime): Promise<ResultCounts> {
    const { db, timings = processTimings } = this.deps;
    await recoverMails(db);
    const lease = await SenderLease.take(db, timings.senderLease);
    faultPoint('sender-started');
    const run = new SenderRun(this.deps, lease, time);
    this.mailLeases = run.mailLeases;
    try {
      return await run.finish();
    } finally {
      this.mailLeases = undefined;
      await lease.release();
      await recoverMails(db).catch(() => {});
    }
  }
}

class SenderRun {
  readonly mailLeases: MailLeases;
  private readonly deps: SenderDeps;
  private readonly lease: SenderLease;
  private readonly ledger: SendingLedger;
  private readonly stopping = new AbortController();
  private readonly counts = noResults();
  private readonly timers: NodeJS.Timeout[];
  private readonly reactions = new Set<Promise<unknown>>();
  /** Campaigns with mail in this run, and when it was last leased or sent, by `performance.now()`. */
  private readonly watched = new Map<string, number>();
  private readonly cut: AbortSignal | undefined;
  private checking: Promise<void> | undefined;
  private readonly quarantined = new Map<string, number>();

  constructor(deps: SenderDeps, lease: SenderLease, time: SendingTime) {
    this.deps = deps;
    this.lease = lease;
    const { db, relays, pace, preparation, campaignInFlight, billing, sendRatePerSecond, pollFactor } = deps;
    const { timings = processTimings } = deps;
    setMaxListeners(0, this.stopping.signal);
    const connections = relays.all.reduce((sum, { maxConnections }) => sum + maxConnections, 0);
    this.ledger = new SendingLedger({
      db,
      senderId: lease.id,
      connections,
      campaignInFlight,
      billing,
      onResult: ({ mail, result }) => {
        this.count(resultKind(result));
        if (mail.campaignId !== null) this.watch(mail.campaignId);
      },
    });
    this.mailLeases = new MailLeases({
      db,
      senderId: lease.id,
      relays,
      preparation,
      pace,
      timings,
      rate: sendRatePerSecond ? new RateLimit(db, 'all', sendRatePerSecond) : undefined,
      ledger: this.ledger,
      campaigns: new CampaignLeases(db, lease.id, timings.sender.listCampaigns),
      stopping: this.stopping.signal,
      connections,
      ...(pollFactor && { pollFactor }),
      onCampaignLeased: (id) => this.watch(id),
      onQuarantined: ({ campaignId }) => campaignId !== null && this.countQuarantined(campaignId),
      ...(time.untilIdle && { onIdle: () => this.stopping.abort() }),
      // The end of the run gives up what it leased without knowing, and Temporal starts the next one.
      onUnknownLeases: () => this.stopping.abort(),
      onError: (err) => logFailure(deps.log, { err }, 'sending failed; retrying'),
    });
    const { durationMs, stop, heartbeat } = time;
    this.cut = time.cut;
    const end = () => this.stopping.abort();
    for (const signal of [stop, lease.lost]) {
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true, signal: this.stopping.signal });
    }
    this.timers = [
      setTimeout(end, durationMs),
      setInterval(() => lease.isValid() && heartbeat?.(this.counts), timings.sender.heartbeat),
      setInterval(() => void this.checkCampaigns(), timings.sender.checkCampaigns),
    ];
  }

  async finish(): Promise<ResultCounts> {
    const { relays, pace, campaignInFlight, timings = processTimings } = this.deps;
    const { mailLeases, ledger } = this;
    const workers = relays.all.flatMap((relay) =>
      Array.from({ length: relay.maxConnections }, () => {
        const onNotBegun = (mail: QueuedMail, verdict: BeginVerdict) => this.react(mail, verdict);
        const options = {
          relay,
          queue: mailLeases.queue,
          ledger,
          pace,
          lease: this.lease,
          stopping: this.stopping.signal,
          cut: this.cut,
          campaignInFlight,
          onNotBegun,
          databaseRetryMs: timings.sender.databaseRetry,
        };
        return new ConnectionWorker(options).run();
      }),
    );
    const ends = await Promise.allSettled(workers);
    faultPoint('before-release');
    this.stopping.abort();
    await mailLeases.close();
    await ledger.idle();
    await Promise.all(this.reactions);
    faultPoint('after-release');
    // One that is under way may have read campaigns before their last results.
    await this.checking;
    await this.checkCampaigns();
    for (const timer of this.timers) clearTimeout(timer);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    return this.counts;
  }

  private count(kind: ResultKind | undefined): void {
    if (!kind) return;
    this.counts[kind]++;
    this.deps.onResult?.(kind);
  }

  /** One such mail may be due to its recipient's data. Several are due to the body, and all others would fail as well. */
  private countQuarantined(campaignId: string): void {
    const count = (this.quarantined.get(campaignId) ?? 0) + 1;
    this.quarantined.set(campaignId, count);
    if (count !== QUARANTINED_LIMIT) return;
    this.quarantined.delete(campaignId);
    const reason = `${QUARANTINED_LIMIT} of its emails could not be composed`;
    this.follow(
      pauseCampaignItself(this.deps.db, campaignId, 'AUTO_PAUSE', reason).then(() =>
        this.mailLeases.dropCampaign(campaignId),
      ),
    );
  }

  /** A mail that may not begin goes back to the ledger, with the reason. */
  private react(mail: QueuedMail, verdict: BeginVerdict): void {
    this.follow(this.reactionTo(mail, verdict));
  }

  private follow(work: Promise<void>): void {
    const reaction = work
      .catch((err) => logFailure(this.deps.log, { err }, 'cannot write to the database; leases will run out'))
      .finally(() => this.reactions.delete(reaction));
    this.reactions.add(reaction);
  }

  private async reactionTo(mail: QueuedMail, verdict: BeginVerdict): Promise<void> {
    const { ledger, mailLeases } = this;
    const { id, campaignId, prepared } = mail;
    switch (verdict.verdict) {
      case 'lost':
        this.stopping.abort();
        return ledger.release({ id });
      case 'stopped':
        await ledger.release({ id });
        return campaignId === null ? undefined : mailLeases.dropCampaign(campaignId);
      case 'blocked': {
        this.count('blocked');
        if (campaignId === null) {
          const blocked = { reason: verdict.reason, blockedDomain: prepared.senderDomain };
          return ledger.release({ id, status: 'PENDING', retryAfterSeconds: BLOCKED_SECONDS, ...blocked });
        }
        await ledger.release({ id });
        await pauseCampaignItself(this.deps.db, campaignId, 'BLOCKED', verdict.reason);
        return mailLeases.dropCampaign(campaignId);
      }
      case 'suppressed':
        this.count('failed');
        return ledger.release({ id, status: 'FAILED', reason: verdict.reason });
      case 'skip':
        return ledger.release({ id, status: 'SKIPPED', reason: verdict.reason });
      case 'failed':
        logFailure(this.deps.log, { err: verdict.error }, 'cannot write to the database; retrying');
        return;
      default:
        return ledger.release({ id });
    }
  }

  private watch(campaignId: string): void {
    this.watched.set(campaignId, performance.now());
  }

  private checkCampaigns(): Promise<void> {
    this.checking ??= this.checkWatchedCampaigns().finally(() => {
      this.checking = undefined;
    });
    return this.checking;
  }

  /** Samples the rates of campaigns, pauses those with too many bounces, and reports those that are finished. */
  private async checkWatchedCampaigns(): Promise<void> {
    for (const [id, watchedAt] of this.watched) {
      try {
        const state = await checkCampaign(this.deps.db, id, this.deps.limits);
        await recordSlowedDomains(this.deps.db, id, this.mailLeases.queue.slowDomains.of(id));
        const isOver = state !== 'sending' || performance.now() - watchedAt > WATCH_MS;
        // Watched on if it had mail meanwhile: a paused campaign may have been resumed.
        if (isOver && this.watched.get(id) === watchedAt) this.watched.delete(id);
      } catch (err) {
        logFailure(this.deps.log, { err, campaignId: id }, 'cannot check a campaign');
      }
    }
  }
}
