// Runs at most one slice of a campaign at a time in this process, and holds what slices share.
import { Campaign } from '../../db/models/campaign.ts';
import { RetryLater } from '../emails/deliver.ts';
import { booker } from './book.ts';
import { postponer } from './postpone.ts';
import type { Ended } from './results.ts';
import { BEAT_MS, Slice, type SliceCalls, type SliceDeps, type SliceEnd } from './slice.ts';
import { Turns } from './turns.ts';

export type { SliceDeps, SliceEnd } from './slice.ts';

/** What the slices of one process share. */
export class CampaignSender {
  readonly deps: SliceDeps;
  readonly turns: Turns<Ended>;
  /** Carries what has come of a mail over to the ledger. */
  readonly book: ReturnType<typeof booker>;
  readonly postpone: ReturnType<typeof postponer>;
  private readonly running = new Map<string, Promise<SliceEnd>>();

  constructor(deps: SliceDeps) {
    this.deps = deps;
    this.turns = new Turns(deps.db, deps.mailer.slots.size);
    this.book = booker(deps.db, { billing: deps.billing === true });
    this.postpone = postponer(deps.db);
  }

  /**
   * Sends what it can of a campaign for a while. It may be called as often as one likes. One slice uses all connections:
   * while one is at work here another only waits for it, and has the chance to be called elsewhere the next time.
   */
  async send(campaignId: string, calls: SliceCalls): Promise<SliceEnd> {
    const other = this.running.get(campaignId);
    if (other) return standBy(other, calls);
    const slice = this.slice(campaignId, calls);
    this.running.set(campaignId, slice);
    try {
      return await slice;
    } finally {
      this.running.delete(campaignId);
    }
  }

  private async slice(campaignId: string, calls: SliceCalls): Promise<SliceEnd> {
    const campaign = await Campaign.query(this.deps.db).findById(campaignId);
    if (campaign?.status !== 'SENDING' || campaign.paused || !campaign.frozenAt) return { more: false };
    return new Slice(this, campaign, calls).run();
  }
}

/** Ends as the other does, or when it is told to. */
async function standBy(other: Promise<SliceEnd>, { beat, stop, abort }: SliceCalls): Promise<SliceEnd> {
  const told = AbortSignal.any([stop, abort]);
  const beating = setInterval(beat, BEAT_MS);
  const ended = new AbortController();
  try {
    const end = await Promise.race([other, aborted(told, ended.signal)]);
    if (end) return end;
    throw new RetryLater('the worker is shutting down', 0);
  } finally {
    clearInterval(beating);
    ended.abort();
  }
}

/** Resolves when the one signal comes, and listens no longer after the other. */
const aborted = (told: AbortSignal, ended: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (told.aborted) resolve(undefined);
    told.addEventListener('abort', () => resolve(undefined), { once: true, signal: ended });
  });
