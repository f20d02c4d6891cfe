import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { nameOfCopy } from '../../platform/names.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/writing.ts';
import { senderDomain } from '../domains/name.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import type { Address } from '../emails/send.ts';
import { nudge } from '../outbox/campaign-run.ts';
import { findTemplate } from '../templates/find.ts';
import { countAudience } from './audience.ts';
import { type AudienceInput, type CheckedAudience, checkAudience, requireReadable, requireSegments } from './check.ts';
import { findCampaign, lockCampaign } from './find.ts';
import { type CampaignView, viewCampaign } from './view.ts';

export { audienceTypes, campaignStatuses } from '../../db/models/campaign.ts';
export { templateTypes } from '../../db/models/template.ts';

/** A whole campaign, as it is created and replaced; what is left out has its default. */
export interface CampaignInput extends AudienceInput {
  name: string;
  description?: string | null | undefined;
  subject: string;
  body: string;
  /** Its name is the sender's, unless `fromName` says otherwise. */
  from: Address;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
  type?: TemplateType | undefined;
  templateId?: string | null | undefined;
  ratePerMinute?: number | null | undefined;
}

export async function createCampaign(db: Db, project: ProjectAccess, input: CampaignInput): Promise<CampaignView> {
  const { projectId } = project;
  const audience = check(input);
  const campaign = await writing(db, project, async (trx) => {
    await requireParts(trx, projectId, input, audience);
    return Campaign.query(trx)
      .insert({ ...columnsOf(input, audience), id: newId(), projectId })
      .returning('*');
  });
  return counted(db, campaign);
}

export async function replaceCampaign(
  db: Db,
  project: ProjectAccess,
  id: string,
  input: CampaignInput,
): Promise<CampaignView> {
  const { projectId } = project;
  // Somebody else's is not there, whatever is wrong with the body.
  await findCampaign(db, projectId, id);
  const audience = check(input);
  const campaign = await writing(db, project, async (trx) => {
    const before = await lockCampaign(trx, projectId, id);
    if (before.status !== 'DRAFT' && before.status !== 'SCHEDULED') throw mayNot(before, 'be changed');
    // The template that it came from may be gone by now, which is no reason to refuse what the caller was shown.
    const isSameTemplate = input.templateId?.toLowerCase() === before.templateId;
    await requireParts(trx, projectId, { ...input, ...(isSameTemplate && { templateId: null }) }, audience);
    return before.$query(trx).patchAndFetch({ ...columnsOf(input, audience), updatedAt: new Date() });
  });
  return counted(db, campaign);
}

/** The copy is a draft of its own; what is no longer as it was is found when it is saved or sent. */
export async function duplicateCampaign(db: Db, project: ProjectAccess, id: string): Promise<CampaignView> {
  const copy = await writing(db, project, async (trx) => {
    const original = await findCampaign(trx, project.projectId, id);
    const { subject, body, description, fromEmail, fromDomain, fromName, replyTo, type, templateId, ratePerMinute } =
      original;
    const { projectId, audienceType, segmentId, audienceCondition } = original;
    return Campaign.query(trx)
      .insert({
        ...{ subject, body, description, fromEmail, fromDomain, fromName, replyTo, type, templateId, ratePerMinute },
        ...{ projectId, audienceType, segmentId, audienceCondition },
        id: newId(),
        name: nameOfCopy(original.name),
      })
      .returning('*');
  });
  return counted(db, copy);
}

/** How many mails a minute; null: as many as it can. A campaign that is under way goes by it at once. */
export async function throttleCampaign(
  db: Db,
  project: ProjectAccess,
  id: string,
  ratePerMinute: number | null,
): Promise<CampaignView> {
  return writing(db, project, async (trx) => {
    const before = await lockCampaign(trx, project.projectId, id);
    const campaign = await before.$query(trx).patchAndFetch({ ratePerMinute, updatedAt: new Date() });
    // What was borrowed from the future under the old rate is forgiven.
    await trx('campaignRates').where({ campaignId: id }).update({ nextAt: trx.fn.now() });
    if (campaign.status === 'SENDING') await nudge(trx, campaign);
    return viewCampaign(trx, campaign);
  });
}

export const mayNot = ({ status, paused }: Campaign, what: string) =>
  new ApiError(409, 'CONFLICT', `A campaign that is ${paused ? 'paused' : status} cannot ${what}.`);

function check(input: CampaignInput): CheckedAudience {
  requireReadable(input);
  return checkAudience(input);
}

async function requireParts(
  trx: Db,
  projectId: string,
  input: CampaignInput,
  audience: CheckedAudience,
): Promise<void> {
  await requireVerifiedSender(trx, projectId, input.from.email);
  await requireSegments(trx, projectId, audience);
  if (input.templateId) await findTemplate(trx, projectId, input.templateId);
}

function columnsOf(input: CampaignInput, { audienceType, segmentId, audienceCondition }: CheckedAudience) {
  const { name, subject, body, from } = input;
  return {
    ...{ name, subject, body, audienceType, segmentId, audienceCondition },
    description: input.description ?? null,
    fromEmail: from.email,
    fromDomain: senderDomain(from.email),
    fromName: input.fromName ?? from.name ?? null,
    replyTo: input.replyTo ?? null,
    type: input.type ?? ('MARKETING' as const),
    templateId: input.templateId ?? null,
    ratePerMinute: input.ratePerMinute ?? null,
  };
}

/** After the transaction: counting takes its time, and a count that takes too long is left as it was. */
async function counted(db: Db, campaign: Campaign): Promise<CampaignView> {
  const audienceCount = await countAudience(db, campaign);
  if (audienceCount === undefined) return viewCampaign(db, campaign);
  await Campaign.query(db).findById(campaign.id).patch({ audienceCount });
  campaign.audienceCount = audienceCount;
  return viewCampaign(db, campaign);
}
