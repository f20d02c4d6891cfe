import type { Db } from '../../../db/connect.ts';

export const campaignRow = (db: Db, id: string) => db('campaigns').where({ id }).first();

/** Sets a state that otherwise sending, a schedule or a check leads to. */
export const setCampaigns = (db: Db, where: object, columns: object) => db('campaigns').where(where).update(columns);

/** Lets a campaign end as its last mail does. */
export async function completeCampaign(db: Db, id: string): Promise<void> {
  await setCampaigns(db, { id }, { status: 'SENDING' });
  await setCampaigns(db, { id }, { status: 'SENT' });
}

export const storedCampaigns = (db: Db, where: object) => db('campaigns').where(where).orderBy('id');

/** A change of the counts that is not aggregated yet. */
export async function addPendingDelta(db: Db, campaignId: string): Promise<void> {
  const { projectId } = await campaignRow(db, campaignId);
  await db('counterDeltas').insert({ projectId, subject: `campaign/${campaignId}`, counts: { pending: 1 } });
}

/** Counts of a campaign by domain of the recipients. */
export const storedCampaignDomains = (db: Db, campaignId: string) =>
  db('campaignDomains').where({ campaignId }).orderBy('domain');

/** Inserts the counts of domains `d1.example`, `d2.example` … with `sent` mails each. */
export const addCampaignDomains = (db: Db, campaignId: string, count: number, sent: number) =>
  db.raw(
    `insert into campaign_domains (campaign_id, domain, sent, delivered, opened, clicked, bounced, complained, failed)
     select ?, 'd' || n || '.example', ?, 0, 0, 0, 0, 0, 0 from generate_series(1, ?::integer) n`,
    [campaignId, sent, count],
  );
