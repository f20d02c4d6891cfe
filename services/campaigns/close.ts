import { type Db, inTransaction } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { countsOfCampaign } from '../../db/models/campaign-counts.ts';
import { statement } from '../../db/statement.ts';
import { tidyWire } from './book.ts';

/** A campaign of which nothing is pending is SENT. False: there is something. */
export async function closeCampaign(db: Db, id: string): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    // Whoever sends to somebody again takes this lock first; the counts are those of after it.
    const campaign = await Campaign.query(trx).findById(id).forUpdate();
    if (campaign?.status !== 'SENDING' || !campaign.frozenAt) return false;
    if ((await countsOfCampaign(trx, id)).pending > 0) return false;
    const now = new Date();
    await campaign.$query(trx).patch({
      ...{ status: 'SENT', sentAt: campaign.sentAt ?? now, updatedAt: now },
      ...{ paused: false, pausedBy: null, pauseReason: null },
    });
    await trx('deliveryBatches').where({ campaignId: id }).del();
    return true;
  });
}

const CHUNK = 5_000;

const cancelSome = statement<{ id: string }>(
  'campaign-cancel-rows',
  `update emails set status = 'CANCELLED', reason = 'campaign cancelled', updated_at = now()
   where status = 'PENDING' and id in (
     select id from emails where campaign_id = $1 and status = 'PENDING' and id > $2
       and not exists (select 1 from campaign_mails_in_flight w where w.email_id = emails.id)
     order by id limit $3 for update skip locked)
   returning id`,
);

/**
 * Writes into the rows of a cancelled campaign what is shown of them since it was cancelled. Those on the wire keep what
 * becomes of them. False: there are some left, on the wire or in somebody's hands.
 */
export async function closeCancelled(db: Db, id: string): Promise<boolean> {
  let last = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await cancelSome(db, [id, last, CHUNK]);
    last = rows.reduce((highest, row) => (row.id > highest ? row.id : highest), last);
    if (rows.length < CHUNK) break;
  }
  await tidyWire(db);
  const left = (await countsOfCampaign(db, id)).pending;
  if (left === 0) await db('deliveryBatches').where({ campaignId: id }).del();
  return left === 0;
}
