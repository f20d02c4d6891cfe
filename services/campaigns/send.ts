import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { badRequest } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/writing.ts';
import { requireCampaignRoom } from '../billing/caps.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import { nudge, startRun } from '../outbox/campaign-run.ts';
import { countAudience } from './audience.ts';
import { requireSegmentsStill } from './check.ts';
import { findCampaign, lockCampaign } from './find.ts';
import { mayNot } from './save.ts';
import { type CampaignView, viewCampaign } from './view.ts';

/** Now, or at a time to come; a SCHEDULED one is put off or brought forward. */
export async function sendCampaign(
  db: Db,
  project: ProjectAccess,
  id: string,
  scheduledFor: Date | undefined,
): Promise<CampaignView> {
  const { projectId } = project;
  const asked = await findCampaign(db, projectId, id);
  requireUnsent(asked);
  // Before anything is locked: it may take seconds to tell. Where it takes too long, the freeze will find out.
  const audienceCount = await countAudience(db, asked);
  if (!scheduledFor && audienceCount === 0) throw badRequest('The campaign has no recipients.');
  return writing(db, project, async (trx) => {
    const before = await lockCampaign(trx, projectId, id);
    requireUnsent(before);
    await requireVerifiedSender(trx, projectId, before.fromEmail);
    await requireSegmentsStill(trx, before);
    if (!scheduledFor) await requireCampaignRoom(trx, projectId, before.audienceCount ?? 1);
    // The fetch below changes `before` itself.
    const wasDraft = before.status === 'DRAFT';
    const after = await before.$query(trx).patchAndFetch({
      ...(scheduledFor
        ? { status: 'SCHEDULED' as const, scheduledFor, scheduledAt: new Date() }
        : { status: 'SENDING' as const, startedAt: new Date() }),
      ...(audienceCount !== undefined && { audienceCount }),
      generation: before.generation + (wasDraft ? 1 : 0),
      updatedAt: new Date(),
    });
    // That of a scheduled one is waiting for its time.
    await (wasDraft ? startRun(trx, after) : nudge(trx, after));
    return viewCampaign(trx, after);
  });
}

function requireUnsent(campaign: Campaign): void {
  if (campaign.status !== 'DRAFT' && campaign.status !== 'SCHEDULED') throw mayNot(campaign, 'be sent');
}
