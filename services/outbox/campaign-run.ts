import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { workflowIds } from './ids.ts';
import { signalNames } from './signals.ts';
import { writeOutboxMessage } from './write.ts';

type CampaignRun = Pick<Campaign, 'id' | 'projectId' | 'generation'>;

/** Starts a Temporal workflow for the campaign. The caller has locked its row and set the generation. */
export async function startCampaignWorkflow(trx: Db, { id, projectId, generation }: CampaignRun): Promise<void> {
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

/** Signals the campaign's Temporal workflow to read its row again. */
export async function signalCampaign(trx: Db, { id, projectId, generation }: CampaignRun): Promise<void> {
  const workflowId = workflowIds.campaign(projectId, id, generation);
  const signal = signalNames.refresh;
  await writeOutboxMessage(trx, { queue: 'control', action: 'signal', signal, workflowId, projectId });
}

/** Signals a project's blocked campaigns to check whether they may continue. They also check periodically. */
export async function signalBlockedCampaigns(trx: Db, projectId: string): Promise<void> {
  const blocked = await Campaign.query(trx)
    .where({ projectId, status: 'SENDING', pausedBy: 'BLOCKED' })
    .select('id', 'projectId', 'generation')
    .orderBy('id');
  for (const campaign of blocked) await signalCampaign(trx, campaign);
}
