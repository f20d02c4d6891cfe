import type { Db } from '../../db/connect.ts';
import type { Segment } from '../../db/models/segment.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { recordAudit } from '../audit/record.ts';
import { lockSegment } from '../segments/find.ts';
import { SegmentGraph } from '../segments/graph.ts';
import { withSegmentsLock } from '../segments/lock.ts';
import { campaignNeedingSegment } from '../usage/in-campaigns.ts';
import { workflowNeedingSegment } from '../usage/in-workflows.ts';

/** Returns what uses the segment, such as `the campaign "Spring"`. */
type FindUser = (trx: Db, segment: Segment) => Promise<string | undefined>;

/** Every use of a segment must be listed here. */
const userFinders: FindUser[] = [findSegmentUser, findCampaignUser, findWorkflowUser];

export async function deleteSegment(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await withSegmentsLock(db, project, async (trx) => {
    const segment = await lockSegment(trx, project.projectId, id);
    for (const findUser of userFinders) {
      const user = await findUser(trx, segment);
      if (user) throw new ApiError(409, 'CONFLICT', `The segment is used by ${user} and cannot be deleted.`);
    }
    await segment.$query(trx).delete();
    await recordAudit(trx, project, {
      action: 'segment.deleted',
      target: { type: 'segment', id },
      changes: { name: { from: segment.name, to: null } },
    });
  });
}

/** Without the segment, a filter "not a member of" would match all contacts. */
async function findSegmentUser(trx: Db, { id, projectId }: Segment): Promise<string | undefined> {
  const user = (await SegmentGraph.of(trx, projectId)).userOf(id);
  return user && `the segment "${user}"`;
}

async function findCampaignUser(trx: Db, { id, projectId }: Segment): Promise<string | undefined> {
  const campaign = await campaignNeedingSegment(trx, projectId, id);
  return campaign && `the campaign "${campaign.name}"`;
}

async function findWorkflowUser(trx: Db, { id, projectId }: Segment): Promise<string | undefined> {
  const name = await workflowNeedingSegment(trx, projectId, id);
  return name && `the workflow "${name}"`;
}
