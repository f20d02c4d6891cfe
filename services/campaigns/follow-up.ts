import { lockName } from '../../db/advisory-lock.ts';
import type { Db } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { Project } from '../../db/models/project.ts';
import { ApiError, badRequest, validationError } from '../../platform/errors.ts';
import { nameOfFollowUp } from '../../platform/names.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { parseCondition } from '../conditions/parse.ts';
import { isTracked } from '../emails/tracking-rule.ts';
import { usableDocument } from '../mail-documents/content.ts';
import { followUpsOfChain, MAX_FOLLOW_UPS, readChain } from './chain.ts';
import { requireValidTexts } from './check.ts';
import { findCampaign, lockCampaign } from './find.ts';
import { type FollowUpRecipients, followUpCondition } from './follow-up-audience.ts';
import { countAndView, insertCampaign, stateConflict } from './save.ts';
import { startOrSchedule } from './send.ts';
import type { CampaignView } from './view.ts';

export { followUpTargets } from '../../db/models/campaign.ts';

export interface FollowUpInput extends FollowUpRecipients {
  name?: string | null | undefined;
  subject?: string | null | undefined;
  /** HTML that replaces the original's content. */
  body?: string | null | undefined;
  scheduledFor?: Date | undefined;
}

/** Creates a campaign to some of the recipients of another one, with its content: a DRAFT, or SCHEDULED with a time. */
export async function createFollowUp(
  db: Db,
  project: ProjectAccess,
  id: string,
  input: FollowUpInput,
): Promise<CampaignView> {
  requireSensibleLink(input);
  const { projectId } = project;
  await findCampaign(db, projectId, id);
  const followUp = await writing(db, project, async (trx) => {
    const original = await lockCampaign(trx, projectId, id);
    if (original.status === 'DRAFT' || original.status === 'CANCELLED')
      throw stateConflict(original, 'have a follow-up');
    await requireTracking(trx, original, input);
    const { scheduledFor } = input;
    if (scheduledFor && original.scheduledFor && scheduledFor < original.scheduledFor)
      throw badRequest('"scheduledFor" must not be before the time of the original.');
    await requireRoomInChain(trx, original);
    const created = await insertCampaign(trx, project, await columnsOf(trx, original, input));
    return scheduledFor ? startOrSchedule(trx, project, created, { scheduledFor }) : created;
  });
  return { ...(await countAndView(db, followUp)), chain: await readChain(db, followUp) };
}

function requireSensibleLink({ to, link }: FollowUpInput): void {
  if (link !== undefined && link !== null && to !== 'CLICKED' && to !== 'NOT_CLICKED')
    throw validationError([
      { field: 'link', message: '"link" goes with CLICKED and NOT_CLICKED only', code: 'custom' },
    ]);
}

/** Opens and clicks of email without tracking are not known. */
async function requireTracking(trx: Db, { projectId, type }: Campaign, { to }: FollowUpInput): Promise<void> {
  if (to === 'NOT_RECEIVED' || to === 'HOLDOUT') return;
  const { tracking = null } = (await Project.query(trx).findById(projectId).select('tracking')) ?? {};
  if (!isTracked({ type, tracking }))
    throw validationError([
      { field: 'to', message: '"to" needs opens and clicks, but the email is not tracked', code: 'custom' },
    ]);
}

/** One transaction at a time adds to a chain. */
async function requireRoomInChain(trx: Db, { id, projectId, chainId }: Campaign): Promise<void> {
  const first = chainId ?? id;
  await lockName(trx, `chain/${first}`);
  if ((await followUpsOfChain(trx, projectId, first)).length >= MAX_FOLLOW_UPS)
    throw new ApiError(409, 'CONFLICT', `A campaign has at most ${MAX_FOLLOW_UPS} follow-ups, counting theirs.`);
}

async function columnsOf(trx: Db, original: Campaign, input: FollowUpInput): Promise<Partial<Campaign>> {
  const { id, projectId, type, description, fromEmail, fromDomain, fromName, replyTo, ratePerMinute } = original;
  const subject = input.subject ?? original.subject;
  const body = input.body ?? original.body;
  requireValidTexts({ subject, body });
  const audienceCondition = followUpCondition(original, input);
  const { faults } = parseCondition(audienceCondition, { at: 'audienceCondition' });
  if (faults) throw validationError(faults);
  return {
    projectId,
    type,
    description,
    fromEmail,
    fromDomain,
    fromName,
    replyTo,
    ratePerMinute,
    templateId: original.templateId,
    topicId: original.topicId,
    name: input.name ?? nameOfFollowUp(original.name),
    subject,
    body,
    ...(input.body == null && (await usableDocument(trx, projectId, original))),
    audienceType: 'FILTERED',
    audienceCondition,
    followUpOf: id,
    chainId: original.chainId ?? id,
    followUpTo: input.to,
    followUpLink: input.link ?? null,
  };
}
