import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { notFound } from '../../platform/errors.ts';

export async function findCampaign(db: Db, projectId: string, id: string): Promise<Campaign> {
  return found(await Campaign.query(db).findOne({ projectId, id }).whereNull('deletedAt'));
}

/** For one who is going to change it. */
export async function lockCampaign(trx: Db, projectId: string, id: string): Promise<Campaign> {
  return found(await Campaign.query(trx).findOne({ projectId, id }).whereNull('deletedAt').forUpdate());
}

/**
 * For one who decides whether it goes on. Nobody begins a mail of it meanwhile, and whoever asks afterwards sees what was
 * decided: see `write_campaign_mails`. It waits for those who are beginning some, which takes milliseconds.
 */
export async function haltCampaign(trx: Db, projectId: string, id: string): Promise<Campaign> {
  await trx.raw('select pg_advisory_xact_lock(campaign_lock(?))', [id]);
  return lockCampaign(trx, projectId, id);
}

function found(campaign: Campaign | undefined): Campaign {
  if (!campaign) throw notFound('campaign', 'CAMPAIGN_NOT_FOUND');
  return campaign;
}
