import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import type { Mailer } from '../../platform/mailer.ts';
import type { Renderer } from '../../platform/renderer/index.ts';
import { Slots } from '../../platform/slots.ts';
import type { DeliveryDeps } from '../emails/deliver.ts';
import type { ResultKind } from '../emails/delivery-settlement.ts';
import type { MailLinks } from '../emails/links.ts';
import { booker } from './book.ts';
import type { BrakeLimits } from './brake.ts';
import { postponer } from './postpone.ts';
import { Slice } from './slice.ts';
import { Turns } from './turns.ts';

export interface SliceDeps {
  db: Db;
  mailer: Mailer;
  renderer: Renderer;
  links: MailLinks;
  signerFor?: DeliveryDeps['signerFor'];
  limits: BrakeLimits;
  onResult?: (kind: ResultKind) => void;
}

export interface SliceCalls {
  /** Told now and then, and only while all leases are held. */
  beat: () => void;
  /** Begin nothing new; what is on the wire is finished. */
  stop: AbortSignal;
  /** Cut what is on the wire. */
  abort: AbortSignal;
  /** How long it works before it lets itself be called again. */
  durationMs: number;
}

/** Whether there is more to do at once; how the campaign stands is looked up by whoever decides what comes next. */
export interface SliceEnd {
  more: boolean;
}

/** What the slices of one process share. */
export class CampaignSender {
  readonly deps: SliceDeps;
  readonly turns: Turns;
  /** Carries what has come of a mail over to the ledger. */
  readonly book: ReturnType<typeof booker>;
  readonly postpone: ReturnType<typeof postponer>;
  private readonly lanes = new Map<string, { slots: Slots; users: number }>();

  constructor(deps: SliceDeps) {
    this.deps = deps;
    this.turns = new Turns(deps.db, deps.mailer.slots.size);
    this.book = booker(deps.db);
    this.postpone = postponer(deps.db);
  }

  /** Sends what it can of a campaign for a while. It may be called as often as one likes, also several times at once. */
  async send(campaignId: string, calls: SliceCalls): Promise<SliceEnd> {
    const campaign = await Campaign.query(this.deps.db).findById(campaignId);
    if (campaign?.status !== 'SENDING' || campaign.paused || !campaign.frozenAt) return { more: false };
    const lanes = this.lanesOf(campaignId);
    lanes.users++;
    try {
      return await new Slice(this, campaign, lanes.slots, calls).run();
    } finally {
      lanes.users--;
      if (lanes.users === 0) this.lanes.delete(campaignId);
    }
  }

  /** A campaign stands in line for connections as often as any other, however many slices it has in this process. */
  private lanesOf(campaignId: string): { slots: Slots; users: number } {
    const lanes = this.lanes.get(campaignId) ?? { slots: new Slots(this.deps.mailer.slots.size), users: 0 };
    this.lanes.set(campaignId, lanes);
    return lanes;
  }
}
