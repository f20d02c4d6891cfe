import { type Db, wake } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { countsOfCampaign } from '../../db/models/campaign-counts.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import type { AuditAction } from '../audit/actions.ts';
import { recordAudit } from '../audit/record.ts';
import { persistCampaignResults } from '../emails/persist-results.ts';
import { signalCampaign } from '../outbox/campaign-run.ts';
import { lockCampaignAndSending } from './find.ts';
import { restartRate } from './rates.ts';
import { stateConflict } from './save.ts';
import { type CampaignView, totalOf, viewCampaign } from './view.ts';

// Changes are effective at commit: a mail is begun only if its campaign is SENDING and not paused at that moment.

const notPaused = { paused: false, pausedBy: null, pauseReason: null } as const;

type Change = (trx: Db, campaign: Campaign) => Promise<Partial<Campaign>>;

async function changeState(
  db: Db,
  project: ProjectAccess,
  id: string,
  action: AuditAction,
  change: Change,
): Promise<CampaignView> {
  return writing(db, project, async (trx) => {
    const before = await lockCampaignAndSending(trx, project.projectId, id);
    // Persists known results first, so that those mails are not counted as cancelled.
    await persistCampaignResults(trx, id);
    const after = await before.$query(trx).patchAndFetch({ ...(await change(trx, before)), updatedAt: new Date() });
    await signalCampaign(trx, after);
    wake(trx, 'campaigns');
    await recordAudit(trx, project, { action, target: { type: 'campaign', id } });
    return viewCampaign(trx, after);
  });
}

/** Cancels all pending recipients. Mails in flight still arrive. */
export function cancelCampaign(db: Db, project: ProjectAccess, id: string): Promise<CampaignView> {
  return changeState(db, project, id, 'campaign.cancelled', async (_trx, campaign) => {
    if (campaign.status !== 'SCHEDULED' && campaign.status !== 'SENDING') throw stateConflict(campaign, 'be cancelled');
    return { status: 'CANCELLED', cancelledAt: new Date(), ...notPaused };
  });
}

/** Makes a scheduled campaign a draft again. Its Temporal workflow ends; sending the draft starts another. */
export function unscheduleCampaign(db: Db, project: ProjectAccess, id: string): Promise<CampaignView> {
  return changeState(db, project, id, 'campaign.unscheduled', async (_trx, campaign) => {
    if (campaign.status !== 'SCHEDULED') throw stateConflict(campaign, 'be unscheduled');
    return { status: 'DRAFT', scheduledFor: null, scheduledAt: null, localTime: null, late: null };
  });
}

/** Pauses until a person resumes, also if the campaign has paused itself already. */
export function pauseCampaign(db: Db, project: ProjectAccess, id: string): Promise<CampaignView> {
  return changeState(db, project, id, 'campaign.paused', async (_trx, campaign) => {
    if (campaign.status !== 'SENDING' || campaign.pausedBy === 'USER') throw stateConflict(campaign, 'be paused');
    const { type = 'SYSTEM', id: actorId = null } = project.actor ?? {};
    return {
      paused: true,
      pausedBy: 'USER',
      pauseReason: 'paused by a user',
      pausedActorType: type,
      pausedActorId: actorId,
    };
  });
}

/** Resumes, and counts rates for auto-pause from here on. If the campaign is still blocked, it pauses itself again. */
export function resumeCampaign(db: Db, project: ProjectAccess, id: string): Promise<CampaignView> {
  return changeState(db, project, id, 'campaign.resumed', async (trx, campaign) => {
    if (campaign.status !== 'SENDING' || !campaign.paused) throw stateConflict(campaign, 'be resumed');
    const counts = await countsOfCampaign(trx, campaign);
    await restartRate(trx, id, totalOf(counts) - counts.pending);
    return {
      ...notPaused,
      baselineSent: counts.sent,
      baselineRefused: counts.refused,
      baselineBounced: counts.hardBounced,
      baselineComplained: counts.complained,
    };
  });
}
