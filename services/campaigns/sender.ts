import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import type { Mailer } from '../../platform/mailer.ts';
import type { Renderer } from '../../platform/renderer/index.ts';
import { Slots } from '../../platform/slots.ts';
import type { DeliveryDeps } from '../emails/deliver.ts';
import type { ResultKind } from '../emails/delivery-settlement.ts';
import type { MailLinks } from '../emails/links.ts';
import type { BrakeLimits } from './brake.ts';
import { beginner, finisher, postponer } from './ledger.ts';
import { Slice } from './slice.ts';

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
  readonly begin: ReturnType<typeof beginner>;
  readonly finish: ReturnType<typeof finisher>;
  readonly postpone: ReturnType<typeof postponer>;
  /** Mails that are begun and whose result is not written: never more than twice the connections. */
  readonly inDoubt: Slots;
  private readonly lanes = new Map<string, { slots: Slots; users: number }>();

  constructor(deps: SliceDeps) {
    this.deps = deps;
    const { size } = deps.mailer.slots;
    this.begin = beginner(deps.db, size);
    this.finish = finisher(deps.db, size);
    this.postpone = postponer(deps.db);
    this.inDoubt = new Slots(size * 2);
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
