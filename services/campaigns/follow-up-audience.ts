// The audience of a follow-up: a condition on the results of the original, and the original's audience.
import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { Campaign, type FollowUpTarget } from '../../db/models/campaign.ts';

type Tree = Record<string, unknown>;
type Original = Pick<Campaign, 'id' | 'audienceType' | 'segmentId' | 'audienceCondition'>;

const operatorsFor: Record<FollowUpTarget, string[]> = {
  NOT_OPENED: ['notOpened'],
  OPENED_NOT_CLICKED: ['opened', 'notClicked'],
  CLICKED: ['clicked'],
  NOT_CLICKED: ['notClicked'],
  NOT_RECEIVED: ['missed'],
  HOLDOUT: ['heldOut'],
};

/** Whom a follow-up is for. */
export interface FollowUpRecipients {
  to: FollowUpTarget;
  /** With CLICKED and NOT_CLICKED: a link of the original. */
  link?: string | null | undefined;
}

/** Returns the condition tree, with as few levels as possible: they are limited. */
export function followUpCondition(original: Original, { to, link }: FollowUpRecipients): Tree {
  const filters: Tree[] = operatorsFor[to].map((operator) => ({
    field: `campaign.${original.id}`,
    operator,
    ...(link && { link }),
  }));
  const { audienceType, segmentId, audienceCondition } = original;
  if (audienceType === 'SEGMENT' && segmentId)
    filters.push({ field: `segment.${segmentId}`, operator: 'memberOfSegment' });
  if (audienceType !== 'FILTERED' || !audienceCondition) return { logic: 'AND', groups: [{ filters }] };
  const { logic, groups } = audienceCondition;
  if (logic === 'AND' && Array.isArray(groups)) return { logic, groups: [{ filters }, ...groups] };
  return { logic: 'AND', groups: [{ filters, conditions: audienceCondition }] };
}

/**
 * Changes the audience of follow-ups that wait for an original whose audience has changed, unless theirs was changed since
 * they were made.
 */
export async function realignFollowUps(trx: Db, before: Campaign, after: Campaign): Promise<void> {
  const followUps = await Campaign.query(trx)
    .where({ projectId: after.projectId, followUpOf: after.id })
    .whereIn('status', ['DRAFT', 'SCHEDULED'])
    .orderBy('id')
    .forUpdate();
  for (const followUp of followUps) {
    const { followUpTo: to, followUpLink: link } = followUp;
    if (!to || !isDeepStrictEqual(followUp.audienceCondition, followUpCondition(before, { to, link }))) continue;
    const realigned = await Campaign.query(trx).patchAndFetchById(followUp.id, {
      audienceCondition: followUpCondition(after, { to, link }),
      revision: followUp.revision + 1,
      updatedAt: new Date(),
    });
    await realignFollowUps(trx, followUp, realigned);
  }
}
