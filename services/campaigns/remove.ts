import type { Db } from '../../db/connect.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/writing.ts';
import { lockCampaign } from './find.ts';
import { mayNot } from './save.ts';

/** The records of mail that was sent stay, and still name its sender and subject. */
export async function deleteCampaign(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await writing(db, project, async (trx) => {
    const campaign = await lockCampaign(trx, project.projectId, id);
    if (campaign.status === 'SCHEDULED' || campaign.status === 'SENDING') throw mayNot(campaign, 'be deleted');
    if (campaign.frozenAt) await campaign.$query(trx).patch({ body: '', deletedAt: new Date() });
    else await campaign.$query(trx).delete();
  });
}
