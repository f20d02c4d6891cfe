import type { Db } from '../../db/connect.ts';
import type { Campaign, Late } from '../../db/models/campaign.ts';
import { Topic } from '../../db/models/topic.ts';
import { badRequest } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { requireCampaignBelowLimit } from '../billing/limits.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import { signalCampaign, startCampaignWorkflow } from '../outbox/campaign-run.ts';
import { isTopicRequired } from '../topics/required.ts';
import { countAudience } from './audience.ts';
import { requireSegmentsBeforeSending } from './check.ts';
import { findCampaign, lockCampaign } from './find.ts';
import { firstMoment } from './local-time.ts';
import { stateConflict } from './save.ts';
import { requireEndAfter } from './send-until.ts';
import { type CampaignView, viewCampaign } from './view.ts';

/** Each recipient gets the email when their clocks show a time. */
export interface LocalStart {
  /** Usable: see `requireLocalTime`. */
  localTime: string;
  late: Late;
}

/** Sends a campaign now, schedules it, or both by local time. A SCHEDULED campaign is rescheduled, or sent now. */
export async function sendCampaign(
  db: Db,
  project: ProjectAccess,
  id: string,
  start: Date | LocalStart | undefined,
): Promise<CampaignView> {
  const { projectId } = project;
  const local = start instanceof Date ? undefined : start;
  const scheduledFor = start instanceof Date ? start : local && momentAhead(local);
  const unlocked = await findCampaign(db, projectId, id);
  requireUnsent(unlocked);
  // Counts before locking, because that may take seconds. Undefined (it took too long) is left to the freeze.
  const audienceCount = await countAudience(db, unlocked);
  if (!scheduledFor && audienceCount === 0) throw badRequest('The campaign has no recipients.');
  return writing(db, project, async (trx) => {
    const before = await lockCampaign(trx, projectId, id);
    requireUnsent(before);
    return viewCampaign(trx, await startOrSchedule(trx, project, before, { scheduledFor, local, audienceCount }));
  });
}

interface Start {
  /** Undefined: now. */
  scheduledFor?: Date | undefined;
  local?: LocalStart | undefined;
  audienceCount?: number | undefined;
}

/** Starts a locked campaign that is DRAFT or SCHEDULED, or sets its time. */
export async function startOrSchedule(
  trx: Db,
  project: ProjectAccess,
  campaign: Campaign,
  { scheduledFor, local, audienceCount }: Start,
): Promise<Campaign> {
  const { id, projectId, generation } = campaign;
  await requireVerifiedSender(trx, projectId, campaign.fromEmail);
  await requireSegmentsBeforeSending(trx, campaign);
  await requireUsableTopic(trx, campaign);
  requireEndAfter(scheduledFor ?? new Date(), campaign);
  if (!scheduledFor) await requireCampaignBelowLimit(trx, projectId, audienceCount ?? campaign.audienceCount);
  // patchAndFetch below changes `campaign` itself.
  const wasDraft = campaign.status === 'DRAFT';
  const after = await campaign.$query(trx).patchAndFetch({
    ...(scheduledFor
      ? { status: 'SCHEDULED' as const, scheduledFor, scheduledAt: new Date() }
      : { status: 'SENDING' as const, startedAt: new Date(), ...(local && { scheduledFor: null }) }),
    localTime: local?.localTime ?? null,
    late: local?.late ?? null,
    ...(audienceCount !== undefined && { audienceCount }),
    generation: generation + (wasDraft ? 1 : 0),
    updatedAt: new Date(),
  });
  // The workflow of a SCHEDULED campaign runs already and waits.
  await (wasDraft ? startCampaignWorkflow(trx, after) : signalCampaign(trx, after));
  await recordAudit(trx, project, {
    action: scheduledFor ? 'campaign.scheduled' : 'campaign.sent',
    target: { type: 'campaign', id },
    changes: changesOf({}, { scheduledFor: scheduledFor?.toISOString(), ...local, audienceCount }),
  });
  return after;
}

/** Undefined where the first place on earth has reached the time already: sending starts at once. */
function momentAhead({ localTime }: LocalStart): Date | undefined {
  const first = firstMoment(localTime);
  return first > new Date() ? first : undefined;
}

async function requireUsableTopic(trx: Db, { projectId, topicId, type }: Campaign): Promise<void> {
  if (topicId) {
    const topic = await Topic.query(trx).findOne({ projectId, id: topicId }).forShare();
    if (!topic || topic.archived) throw badRequest('The topic of the campaign is archived.');
  } else if (type !== 'TRANSACTIONAL' && (await isTopicRequired(trx, projectId)))
    throw badRequest(`The project requires a topic for ${type} campaigns.`);
}

function requireUnsent(campaign: Campaign): void {
  if (campaign.status !== 'DRAFT' && campaign.status !== 'SCHEDULED') throw stateConflict(campaign, 'be sent');
}
