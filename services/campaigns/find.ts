import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { notFound } from '../../platform/errors.ts';

export async function findCampaign(db: Db, projectId: string, id: string): Promise<Campaign> {
  return found(await Campaign.query(db).findOne({ projectId, id }).whereNull('deletedAt'));
}

/** Finds the campaign and locks its row. */
export async function lockCampaign(trx: Db, projectId: string, id: string): Promise<Campaign> {
  return found(await Campaign.query(trx).findOne({ projectId, id }).whereNull('deletedAt').forUpdate());
}

/**
 * Locks the campaign for a change that decides whether its mail is sent. `write_campaign_mails` takes the same advisory
 * lock in shared mode: no mail is begun until the transaction ends, and later ones see its decision. Waits some
 * milliseconds for mails that are being begun.
 */
export async function lockCampaignAndSending(trx: Db, projectId: string, id: string): Promise<Campaign> {
  await trx.raw('select pg_advisory_xact_lock(campaign_lock(?))', [id]);
  return lockCampaign(trx, projectId, id);
}

function found(campaign: Campaign | undefined): Campaign {
  if (!campaign) throw notFound('campaign', 'CAMPAIGN_NOT_FOUND');
  return campaign;
}
