import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { statement } from '../../db/statement.ts';
import { notFound } from '../../platform/errors.ts';

export async function findCampaign(db: Db, projectId: string, id: string): Promise<Campaign> {
  return found(await Campaign.query(db).findOne({ projectId, id }).whereNull('deletedAt'));
}

/** Finds the campaign and locks its row. */
export async function lockCampaign(trx: Db, projectId: string, id: string): Promise<Campaign> {
  return found(await Campaign.query(trx).findOne({ projectId, id }).whereNull('deletedAt').forUpdate());
}

const lock = statement('campaign-lock', 'select pg_advisory_xact_lock(campaign_lock($1))');

/**
 * Until the transaction ends, no email of the campaign is begun: `write_outgoing_mails` takes the same lock in shared mode.
 * Waits some milliseconds for those that are being begun.
 */
export async function lockCampaignSending(trx: Db, id: string): Promise<void> {
  await lock(trx, [id]);
}

/** Locks the campaign for a change that decides whether its mail is sent: mail that is begun later sees its decision. */
export async function lockCampaignAndSending(trx: Db, projectId: string, id: string): Promise<Campaign> {
  await lockCampaignSending(trx, id);
  return lockCampaign(trx, projectId, id);
}

function found(campaign: Campaign | undefined): Campaign {
  if (!campaign) throw notFound('campaign', 'CAMPAIGN_NOT_FOUND');
  return campaign;
}
