import type { Db } from '../../db/connect.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { recordAudit } from '../audit/record.ts';
import { lockCampaign } from './find.ts';
import { stateConflict } from './save.ts';

/** Deletes a campaign. One that was sent keeps its row, because its mails in the ledger take sender and subject from it. */
export async function deleteCampaign(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await writing(db, project, async (trx) => {
    const campaign = await lockCampaign(trx, project.projectId, id);
    if (campaign.status === 'SCHEDULED' || campaign.status === 'SENDING') throw stateConflict(campaign, 'be deleted');
    if (campaign.frozenAt) await campaign.$query(trx).patch({ body: '', deletedAt: new Date() });
    else await campaign.$query(trx).delete();
    await recordAudit(trx, project, {
      action: 'campaign.deleted',
      target: { type: 'campaign', id },
      changes: { name: { from: campaign.name, to: null } },
    });
  });
}
