import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { countsOfCampaign } from '../../db/models/campaign-counts.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/writing.ts';
import { nudge } from '../outbox/campaign-run.ts';
import { bookCampaign } from './book.ts';
import { haltCampaign } from './find.ts';
import { restartPace } from './pace.ts';
import { mayNot } from './save.ts';
import { type CampaignView, totalOf, viewCampaign } from './view.ts';

// What is decided here is final when it commits: every mail is begun on the condition that its campaign goes on.

const goingOn = { paused: false, pausedBy: null, pauseReason: null } as const;

type Change = (trx: Db, campaign: Campaign) => Promise<Partial<Campaign>>;

async function steer(db: Db, project: ProjectAccess, id: string, change: Change): Promise<CampaignView> {
  return writing(db, project, async (trx) => {
    const before = await haltCampaign(trx, project.projectId, id);
    // What is known counts, and is not called cancelled.
    await bookCampaign(trx, id);
    const after = await before.$query(trx).patchAndFetch({ ...(await change(trx, before)), updatedAt: new Date() });
    await nudge(trx, after);
    return viewCampaign(trx, after);
  });
}

/** Who has not got it yet will not get it; what is on the wire at this moment still arrives. */
export function cancelCampaign(db: Db, project: ProjectAccess, id: string): Promise<CampaignView> {
  return steer(db, project, id, async (_trx, campaign) => {
    if (campaign.status !== 'SCHEDULED' && campaign.status !== 'SENDING') throw mayNot(campaign, 'be cancelled');
    return { status: 'CANCELLED', cancelledAt: new Date(), ...goingOn };
  });
}

/** It may stand still already for a reason of its own: from now on it waits for a person. */
export function pauseCampaign(db: Db, project: ProjectAccess, id: string): Promise<CampaignView> {
  return steer(db, project, id, async (_trx, campaign) => {
    if (campaign.status !== 'SENDING' || campaign.pausedBy === 'USER') throw mayNot(campaign, 'be paused');
    return { paused: true, pausedBy: 'USER', pauseReason: 'paused by a person' };
  });
}

/** Whatever it was stopped for is forgiven. Should the cause of a hold still be there, it is held again. */
export function resumeCampaign(db: Db, project: ProjectAccess, id: string): Promise<CampaignView> {
  return steer(db, project, id, async (trx, campaign) => {
    if (campaign.status !== 'SENDING' || !campaign.paused) throw mayNot(campaign, 'be resumed');
    const counts = await countsOfCampaign(trx, id);
    await restartPace(trx, id, totalOf(counts) - counts.pending);
    return {
      ...goingOn,
      baselineSent: counts.sent,
      baselineBounced: counts.hardBounced,
      baselineComplained: counts.complained,
    };
  });
}
