import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { totalOf, viewCampaign } from './view.ts';

/** Returns the state of a campaign as one line for Temporal's Web UI, without personal data. */
export async function describeCampaign(db: Db, id: string): Promise<string> {
  const campaign = await Campaign.query(db).findById(id);
  if (!campaign) return 'the campaign no longer exists';
  const { counts, secondsLeft } = await viewCampaign(db, campaign);
  const { pending: _, ...ended } = counts;
  const { sent, failed, skipped, cancelled, unknown } = ended;
  const total = totalOf(counts);
  const parts = Object.entries({ sent, failed, skipped, cancelled, unknown })
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  return [
    campaign.paused ? `paused: ${campaign.pauseReason}` : campaign.status,
    ...(campaign.status === 'SCHEDULED' ? [`for ${campaign.scheduledFor?.toISOString()}`] : []),
    ...(total > 0 ? [`${total - counts.pending} of ${total} done`] : []),
    ...parts,
    ...(secondsLeft === null ? [] : [`about ${secondsLeft} s left`]),
  ].join(', ');
}
