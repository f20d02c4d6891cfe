import { type Db, wake } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import type { TemplateType } from '../../db/models/template.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { nameOfCopy } from '../../platform/names.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { type Changes, changesOf, recordAudit } from '../audit/record.ts';
import { senderDomain } from '../domains/name.ts';
import { requireVerifiedSender } from '../domains/verified-sender.ts';
import type { Address } from '../emails/send.ts';
import {
  type CheckedContent,
  checkContent,
  contentColumns,
  type GivenContent,
  usableDocument,
} from '../mail-documents/content.ts';
import { signalCampaign } from '../outbox/campaign-run.ts';
import { findTemplate } from '../templates/find.ts';
import { requireTopicFor } from '../topics/find.ts';
import { countAudience } from './audience.ts';
import {
  type AudienceInput,
  type CheckedAudience,
  checkAudience,
  requireSegments,
  requireValidTexts,
} from './check.ts';
import { findCampaign, lockCampaign, lockCampaignAndSending } from './find.ts';
import { realignFollowUps } from './follow-up-audience.ts';
import { presentCampaign } from './present.ts';
import { requireUsableEnd } from './send-until.ts';
import { type CampaignView, viewCampaign } from './view.ts';

export { audienceTypes, campaignStatuses, lateRules } from '../../db/models/campaign.ts';
export { templateTypes } from '../../db/models/template.ts';

/** The body of create and replace. Omitted fields have their defaults. */
export interface CampaignInput extends AudienceInput, GivenContent {
  name: string;
  description?: string | null | undefined;
  subject: string;
  /** `fromName` takes precedence over the name in here. */
  from: Address;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
  type?: TemplateType | undefined;
  templateId?: string | null | undefined;
  topicId?: string | null | undefined;
  ratePerMinute?: number | null | undefined;
  sendUntil?: Date | null | undefined;
  /** The revision that the caller has read. */
  expectedRevision?: number | undefined;
}

interface CheckedInput {
  audience: CheckedAudience;
  content: CheckedContent;
}

export async function createCampaign(db: Db, project: ProjectAccess, input: CampaignInput): Promise<CampaignView> {
  const { projectId } = project;
  const { audience, content } = validate(input);
  requireUsableEnd(input.sendUntil);
  const campaign = await writing(db, project, async (trx) => {
    await requireReferences(trx, projectId, input, audience);
    const columns = { ...columnsOf(input, audience), ...(await contentColumns(trx, projectId, content)) };
    return insertCampaign(trx, project, { ...columns, projectId });
  });
  return countAndView(db, campaign);
}

export async function insertCampaign(trx: Db, project: ProjectAccess, columns: Partial<Campaign>): Promise<Campaign> {
  const created = await Campaign.query(trx)
    .insert({ ...columns, id: newId() })
    .returning('*');
  const { id, name } = created;
  await recordAudit(trx, project, {
    action: 'campaign.created',
    target: { type: 'campaign', id },
    changes: changesOf({}, { name }),
  });
  return created;
}

export async function replaceCampaign(
  db: Db,
  project: ProjectAccess,
  id: string,
  input: CampaignInput,
): Promise<CampaignView> {
  const { projectId } = project;
  // Answers 404 for another project's campaign before the body is validated.
  await findCampaign(db, projectId, id);
  const { audience, content } = validate(input);
  const campaign = await writing(db, project, async (trx) => {
    const before = await lockCampaign(trx, projectId, id);
    if (before.status !== 'DRAFT' && before.status !== 'SCHEDULED') throw stateConflict(before, 'be changed');
    const { expectedRevision = before.revision } = input;
    if (expectedRevision !== before.revision) throw await revisionConflict(trx, before);
    requireUsableEnd(input.sendUntil, before);
    // Accepts the unchanged templateId of a deleted template, so that the answer of GET is a valid body.
    const isSameTemplate = input.templateId?.toLowerCase() === before.templateId;
    const references = { ...input, ...(isSameTemplate && { templateId: null }) };
    await requireReferences(trx, projectId, references, audience, before.topicId);
    const { savedBlockIds, rendererVersion, ...shown } = await contentColumns(trx, projectId, content, before.body);
    const columns = { ...columnsOf(input, audience), ...shown };
    await recordChange(trx, project, before, columns);
    // patchAndFetch changes `before` itself.
    const original = before.$clone();
    const after = await before.$query(trx).patchAndFetch({
      ...columns,
      savedBlockIds,
      rendererVersion,
      revision: before.revision + 1,
      updatedAt: new Date(),
    });
    await realignFollowUps(trx, original, after);
    return after;
  });
  return countAndView(db, campaign);
}

/** The 409 of a caller who has not seen the current campaign, which it contains. */
const revisionConflict = async (trx: Db, campaign: Campaign): Promise<ApiError> =>
  new ApiError(409, 'CONFLICT', 'The campaign has changed since you read it.', {
    details: presentCampaign(await viewCampaign(trx, campaign)),
  });

async function recordChange(
  trx: Db,
  project: ProjectAccess,
  before: Campaign,
  columns: Partial<Campaign>,
): Promise<Changes> {
  const changes = changesOf(before, columns);
  if (Object.keys(changes).length > 0)
    await recordAudit(trx, project, {
      action: 'campaign.updated',
      target: { type: 'campaign', id: before.id },
      changes,
    });
  return changes;
}

/** Copies the campaign as a DRAFT. Its references are checked when the copy is saved or sent. */
export async function duplicateCampaign(db: Db, project: ProjectAccess, id: string): Promise<CampaignView> {
  const copy = await writing(db, project, async (trx) => {
    const original = await findCampaign(trx, project.projectId, id);
    const { subject, body, description, fromEmail, fromDomain, fromName, replyTo, type, templateId, topicId } =
      original;
    const { ratePerMinute, sendUntil, projectId, audienceType, segmentId, audienceCondition } = original;
    return insertCampaign(trx, project, {
      subject,
      body,
      ...(await usableDocument(trx, projectId, original)),
      description,
      fromEmail,
      fromDomain,
      fromName,
      replyTo,
      type,
      templateId,
      topicId,
      ratePerMinute,
      sendUntil,
      projectId,
      audienceType,
      segmentId,
      audienceCondition,
      name: nameOfCopy(original.name),
    });
  });
  return countAndView(db, copy);
}

const dropWait = statement(
  'campaign-rate-drop-wait',
  'update campaign_rates set next_at = now() where campaign_id = $1',
);

/** What can be changed while a campaign is being sent. Fields that are left out stay as they are. */
export interface SendingChange {
  /** The throttle in mails a minute; null removes it. */
  ratePerMinute?: number | null | undefined;
  sendUntil?: Date | null | undefined;
}

/** Takes effect immediately on a SENDING campaign. */
export async function changeSending(
  db: Db,
  project: ProjectAccess,
  id: string,
  { ratePerMinute, sendUntil }: SendingChange,
): Promise<CampaignView> {
  return writing(db, project, async (trx) => {
    const before = await lockCampaignAndSending(trx, project.projectId, id);
    requireUsableEnd(sendUntil, before);
    const change = {
      ...(ratePerMinute !== undefined && { ratePerMinute }),
      ...(sendUntil !== undefined && { sendUntil }),
    };
    const changes = await recordChange(trx, project, before, change);
    const revision = before.revision + 1;
    const campaign = await before.$query(trx).patchAndFetch({ ...change, revision, updatedAt: new Date() });
    // Drops the wait that was incurred at the old rate.
    if (changes.ratePerMinute) await dropWait(trx, [id]);
    // Its workflow waits for the end.
    if (changes.sendUntil && campaign.status === 'SENDING') await signalCampaign(trx, campaign);
    wake(trx, 'campaigns');
    return viewCampaign(trx, campaign);
  });
}

export const stateConflict = ({ status, paused }: Campaign, action: string) =>
  new ApiError(409, 'CONFLICT', `A campaign that is ${paused ? 'paused' : status} cannot ${action}.`);

function validate(input: CampaignInput): CheckedInput {
  const { subject, body } = input;
  requireValidTexts({ subject, body: body ?? undefined });
  const content = checkContent(input);
  // The schema of the request requires a body or a document.
  if (!content) throw new Error('a campaign without content');
  return { audience: checkAudience(input), content };
}

async function requireReferences(
  trx: Db,
  projectId: string,
  input: CampaignInput,
  audience: CheckedAudience,
  topicBefore?: string | null,
): Promise<void> {
  await requireVerifiedSender(trx, projectId, input.from.email);
  await requireSegments(trx, projectId, audience);
  if (input.templateId) await findTemplate(trx, projectId, input.templateId);
  const { topicId, type = 'MARKETING' } = input;
  if (topicId) await requireTopicFor(trx, projectId, { id: topicId.toLowerCase(), type, before: topicBefore });
}

function columnsOf(input: CampaignInput, { audienceType, segmentId, audienceCondition }: CheckedAudience) {
  const { name, subject, from } = input;
  return {
    name,
    subject,
    audienceType,
    segmentId,
    audienceCondition,
    description: input.description ?? null,
    fromEmail: from.email,
    fromDomain: senderDomain(from.email),
    fromName: input.fromName ?? from.name ?? null,
    replyTo: input.replyTo ?? null,
    type: input.type ?? ('MARKETING' as const),
    templateId: input.templateId ?? null,
    topicId: input.topicId ?? null,
    ratePerMinute: input.ratePerMinute ?? null,
    sendUntil: input.sendUntil ?? null,
  };
}

/** Counts the audience, outside the transaction because that takes long. Keeps the last count if it takes too long. */
export async function countAndView(db: Db, campaign: Campaign): Promise<CampaignView> {
  const audienceCount = await countAudience(db, campaign);
  if (audienceCount === undefined) return viewCampaign(db, campaign);
  await Campaign.query(db).findById(campaign.id).patch({ audienceCount });
  campaign.audienceCount = audienceCount;
  return viewCampaign(db, campaign);
}

/** Deletes a campaign. One that was sent keeps its row, because its mails in the ledger take sender and subject from it. */
export async function deleteCampaign(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await writing(db, project, async (trx) => {
    const campaign = await lockCampaign(trx, project.projectId, id);
    if (campaign.status === 'SCHEDULED' || campaign.status === 'SENDING') throw stateConflict(campaign, 'be deleted');
    if (campaign.frozenAt)
      await campaign
        .$query(trx)
        .patch({ body: '', document: null, rendererVersion: null, savedBlockIds: [], deletedAt: new Date() });
    else await campaign.$query(trx).delete();
    await recordAudit(trx, project, {
      action: 'campaign.deleted',
      target: { type: 'campaign', id },
      changes: { name: { from: campaign.name, to: null } },
    });
  });
}
