import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { sql } from '../../db/sql.ts';
import { queryCount } from '../../db/statement.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { createSegment } from '../segments/create.ts';
import { findCampaign } from './find.ts';
import { matching, type RecipientFilter, requireSensible } from './recipients.ts';

/** Creates a static segment of the recipients that match now. Deleted contacts are left out. */
export async function createRecipientSegment(
  db: Db,
  project: ProjectAccess,
  campaignId: string,
  name: string,
  filter: RecipientFilter,
  limits: Limits = UNLIMITED,
): Promise<Segment> {
  requireSensible(filter);
  const { projectId } = project;
  const campaign = await findCampaign(db, projectId, campaignId);
  const isCancelled = campaign.status === 'CANCELLED';
  return createSegment(db, project, { name, type: 'STATIC' }, limits, async (trx, id) => {
    const members = await queryCount(
      trx,
      sql`insert into segment_members (segment_id, contact_id)
          select ${id}::uuid, c.id from (${matching(projectId, campaignId, isCancelled, filter)}) e
          join contacts c on c.id = e.contact_id and c.project_id = ${projectId}`,
    );
    await Segment.query(trx).where({ projectId, id }).patch({ memberCount: members });
  });
}
