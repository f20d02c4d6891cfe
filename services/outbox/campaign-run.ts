import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { workflowIds } from './ids.ts';
import { writeOutboxMessage } from './write.ts';

type Running = Pick<Campaign, 'id' | 'projectId' | 'generation'>;

/** Says that the campaign's row has changed. */
export const REFRESH_SIGNAL = 'lookAgain';

/** A run of its own from now on; its row is locked and has the generation already. */
export async function startRun(trx: Db, { id, projectId, generation }: Running): Promise<void> {
  await writeOutboxMessage(trx, {
    queue: 'control',
    action: 'start',
    workflowType: 'campaign',
    workflowId: workflowIds.campaign(projectId, id, generation),
    args: [{ campaignId: id, generation }],
    projectId,
    resourceId: id,
  });
}

/** The run looks at its row again. */
export async function nudge(trx: Db, { id, projectId, generation }: Running): Promise<void> {
  const workflowId = workflowIds.campaign(projectId, id, generation);
  await writeOutboxMessage(trx, { queue: 'control', action: 'signal', signal: REFRESH_SIGNAL, workflowId, projectId });
}

/** The campaigns of a project that are held look whether they may go on. They do so now and then by themselves. */
export async function signalBlockedCampaigns(trx: Db, projectId: string): Promise<void> {
  const held = await Campaign.query(trx)
    .where({ projectId, status: 'SENDING', pausedBy: 'BLOCKED' })
    .select('id', 'projectId', 'generation')
    .orderBy('id');
  for (const campaign of held) await nudge(trx, campaign);
}
