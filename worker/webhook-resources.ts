import type { Db } from '../db/connect.ts';
import { Campaign } from '../db/models/campaign.ts';
import { Domain } from '../db/models/domain.ts';
import type { Settings } from '../platform/settings.ts';
import { presentListedCampaign } from '../services/campaigns/present.ts';
import { viewCampaign } from '../services/campaigns/view.ts';
import { findDomain } from '../services/domains/find.ts';
import { presentDomain } from '../services/domains/present.ts';
import type { Complete } from '../services/webhooks/complete.ts';

/** Shows the resources of `campaign.*` and `domain.*` webhooks as GET does, without bodies and documents. */
export const webhookResources =
  (settings: Pick<Settings, 'mailFrom'>): Complete =>
  async (db, { type, projectId, data: { id } }) =>
    type.startsWith('campaign.') ? showCampaign(db, projectId, id) : showDomain(db, projectId, id, settings);

async function showCampaign(db: Db, projectId: string, id: string): Promise<object | undefined> {
  const campaign = await Campaign.query(db).findOne({ projectId, id });
  if (!campaign) return undefined;
  const { body: _, ...shown } = presentListedCampaign(await viewCampaign(db, campaign));
  return shown;
}

async function showDomain(
  db: Db,
  projectId: string,
  id: string,
  settings: Pick<Settings, 'mailFrom'>,
): Promise<object | undefined> {
  if (!(await Domain.query(db).findOne({ projectId, id }))) return undefined;
  return presentDomain(await findDomain(db, projectId, id, settings));
}
