// Sends mails of one campaign for half a minute over all SMTP connections of the process.
import { setMaxListeners } from 'node:events';
import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import type { Mailer } from '../../platform/smtp/mailer.ts';
import type { Renderer } from '../../platform/templates/index.ts';
import { type DeliveryDeps, RetryLater } from '../emails/deliver.ts';
import type { MailInFlight, ResultKind } from '../emails/delivery-settlement.ts';
import type { MailLinks } from '../emails/links.ts';
import { type AutoPauseLimits, checkProgress, pauseCampaignItself, pauseIfStuck } from './auto-pause.ts';
import { CAMPAIGN_PRIORITY } from './batches.ts';
import { CampaignContent } from './content.ts';
import { Lane, type LaneWork } from './lane.ts';
import type { postponer } from './postpone.ts';
import { Results, type ResultsSender } from './results.ts';
import { RecipientSource, type SourcedMail } from './source.ts';
import { Throttle } from './throttle.ts';
import type { Begin } from './turn.ts';

export const BEAT_MS = 3_000;
const LOOK_MS = 1_000;
/** How long mail to a domain that is slow just now is put off, by at least half of it. */
const SLOW_DOMAIN_SECONDS = 120;

export interface SliceDeps {
  db: Db;
  mailer: Mailer;
  renderer: Renderer;
  links: MailLinks;
  signerFor?: DeliveryDeps['signerFor'];
  limits: AutoPauseLimits;
  /** Whether usage is recorded for billing. */
  billing?: boolean;
  onResult?: (kind: ResultKind) => void;
}

export interface SliceCalls {
  /** Called periodically, and only while all leases are valid. */
  beat: () => void;
  /** Begins no further mails; those in flight are finished. */
  stop: AbortSignal;
  /** Closes the connections of mails in flight. */
  abort: AbortSignal;
  /** How long the slice lasts at most. */
  durationMs: number;
}

/** `more` says whether the slice ended for its duration alone. `advanceCampaign` decides what comes next. */
export interface SliceEnd {
  more: boolean;
}

/** What a slice uses of its sender. */
export interface SliceSender extends ResultsSender {
  readonly deps: SliceDeps;
  readonly postpone: ReturnType<typeof postponer>;
}

/** One turn at a campaign. */
export class Slice {
  private readonly sender: SliceSender;
  private readonly deps: SliceDeps;
  private readonly campaign: Campaign;
  private readonly calls: SliceCalls;
  /** Begin nothing new. */
  private readonly stopping = new AbortController();
  /** Cut what is on the wire. */
  private readonly cutting = new AbortController();
  private readonly throttle: Throttle;
  private lost: unknown;
  private isTimeUp = false;
  private unreachable: string | undefined;
  private exchanged = false;

  constructor(sender: SliceSender, campaign: Campaign, calls: SliceCalls) {
    this.sender = sender;
    this.deps = sender.deps;
    this.campaign = campaign;
    this.calls = calls;
    for (const { signal } of [this.stopping, this.cutting]) setMaxListeners(0, signal);
    this.throttle = new Throttle(this.deps.db, campaign.id, campaign.ratePerMinute, this.stopping.signal);
  }

  async run(): Promise<SliceEnd> {
    const { db, mailer } = this.deps;
    await this.requireServer();
    const content = await CampaignContent.of(this.deps, this.campaign);
    const onLost = () => this.cut(new Error('a lease on recipients is lost'));
    const onStuck = (count: number) => this.countStuck(count);
    const source = new RecipientSource({ db, campaignId: this.campaign.id, content, onLost, onStuck });
    const ends = this.watch(source);
    const onFailure = (error: unknown) => this.cut(error);
    const results = new Results({ sender: this.sender, from: this.campaign.fromEmail, source, onFailure });
    const work = this.laneWork(source, results);
    try {
      const lanes = await Promise.allSettled(Array.from({ length: mailer.slots.size }, () => new Lane(work).run()));
      await results.all();
      for (const end of lanes) if (end.status === 'rejected') throw end.reason;
    } finally {
      for (const end of ends) end();
      this.stopping.abort();
      await source.close();
    }
    return this.verdict();
  }

  private async countStuck(count: number): Promise<void> {
    for (let left = count; left > 0; left--) this.deps.onResult?.('failed');
    if (await pauseIfStuck(this.deps.db, this.campaign.id)) this.stopping.abort();
  }

  /** What cannot be offered to anybody is not even begun. */
  private async requireServer(): Promise<void> {
    const { mailer } = this.deps;
    if (!(await mailer.slots.take(CAMPAIGN_PRIORITY, this.calls.stop))) return;
    try {
      const line = await mailer.connect(this.calls.abort);
      if ('kind' in line) throw away(line.reason);
      await line.release();
    } finally {
      mailer.slots.give();
    }
  }

  private verdict(): SliceEnd {
    if (this.calls.stop.aborted) throw new RetryLater('the worker is shutting down', 0);
    if (this.lost) throw new RetryLater(String(this.lost), 0);
    if (this.unreachable && !this.exchanged) throw away(this.unreachable);
    return { more: this.isTimeUp };
  }

  /** Everything that may end it early. Gives back how to stop watching. */
  private watch(source: RecipientSource): (() => void)[] {
    const { stop, abort, durationMs, beat } = this.calls;
    this.stopping.signal.addEventListener('abort', () => source.stop(), { once: true });
    const beating = setInterval(() => source.holds && beat(), BEAT_MS);
    const timer = setTimeout(() => {
      this.isTimeUp = true;
      this.stopping.abort();
    }, durationMs);
    const looking = this.keepLooking();
    return [
      whenAborted(stop, () => this.stopping.abort()),
      whenAborted(abort, () => this.cut(abort.reason)),
      () => clearInterval(beating),
      () => clearTimeout(timer),
      looking,
    ];
  }

  private cut(reason: unknown): void {
    this.lost ??= reason;
    this.stopping.abort();
    this.cutting.abort(reason);
  }

  /** The throttle may change, results may call for the brake, and people shall see how it goes. */
  private keepLooking(): () => void {
    let busy = false;
    const look = async () => {
      if (busy) return;
      busy = true;
      const now = await checkProgress(this.deps.db, this.campaign.id, this.deps.limits).catch(() => undefined);
      if (now) this.throttle.ratePerMinute = now.ratePerMinute;
      if (now && !now.isSending) this.stopping.abort();
      busy = false;
    };
    const timer = setInterval(() => void look(), LOOK_MS);
    return () => clearInterval(timer);
  }

  private laneWork(source: RecipientSource, results: Results): LaneWork {
    const { id: campaignId } = this.campaign;
    return {
      mailer: this.deps.mailer,
      source,
      throttle: this.throttle,
      stopping: this.stopping.signal,
      cutting: this.cutting.signal,
      begin: ({ ready, batch }, signal) => this.sender.turns.begin({ campaignId, holder: batch.lease, ready, signal }),
      accept: (begin) => this.accept(begin, results),
      postpone: (sourced, domain) => this.postpone(sourced, domain),
      settle: (begun, outcome) => {
        if (outcome.kind === 'unreachable') this.unreachable = outcome.reason;
        else this.exchanged = true;
        results.tell(begun, outcome);
      },
      putBack: (begun) => results.tell(begun, { kind: 'unreachable', reason: 'stopped before it was sent' }),
      passOver: (sourced) => results.passOver(sourced),
    };
  }

  private accept(begin: Begin | undefined, results: Results): MailInFlight | undefined {
    if (begin?.verdict === 'go') return begin.mail;
    if (begin?.verdict === 'failed') throw begin.error;
    if (begin?.verdict === 'stopped' || begin?.verdict === 'blocked') this.stopping.abort();
    if (begin?.verdict === 'blocked')
      results.follow(pauseCampaignItself(this.deps.db, this.campaign.id, 'BLOCKED', begin.reason));
    return undefined;
  }

  private async postpone({ ready: { id }, batch: { lease } }: SourcedMail, domain: string): Promise<void> {
    const seconds = SLOW_DOMAIN_SECONDS * (0.5 + Math.random() / 2);
    const reason = `mail to ${domain} takes long just now; it will be tried again`;
    await this.sender.postpone({ id, holder: lease, reason, seconds });
  }
}

const away = (reason: string) => new RetryLater(`the SMTP server cannot be reached: ${reason}`);

function whenAborted(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  signal.addEventListener('abort', act);
  return () => signal.removeEventListener('abort', act);
}
