import { type Db, inTransaction } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { countsOfCampaign } from '../../db/models/campaign-counts.ts';
import { statement } from '../../db/statement.ts';
import { persistCampaignResults } from '../emails/persist-results.ts';

/** Marks a SENDING campaign without pending recipients SENT. Returns whether it did. */
export async function closeCampaign(db: Db, id: string): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    // A resend takes this lock before it makes a recipient pending, so the counts are read after it.
    const campaign = await Campaign.query(trx).findById(id).forUpdate();
    if (campaign?.status !== 'SENDING' || !campaign.frozenAt) return false;
    if ((await countsOfCampaign(trx, campaign)).pending > 0) return false;
    const now = new Date();
    await campaign.$query(trx).patch({
      status: 'SENT',
      sentAt: campaign.sentAt ?? now,
      updatedAt: now,
      paused: false,
      pausedBy: null,
      pauseReason: null,
    });
    return true;
  });
}

/** Bounds the rows that one statement locks. */
const CHUNK = 5_000;

const cancelPending = statement<{ id: string }>(
  'campaign-cancel-rows',
  `update emails set status = 'CANCELLED', reason = 'campaign cancelled', updated_at = now()
   where status = 'PENDING' and id in (
     select id from emails where campaign_id = $1 and status = 'PENDING' and id > $2
       and not exists (select 1 from outgoing_mails o where o.email_id = emails.id and o.started_at is not null)
     order by id limit $3 for update skip locked)
   returning id`,
);

/**
 * Marks the pending recipients of a cancelled campaign CANCELLED; the API shows them so since the cancellation. Mails in
 * flight keep their result. Returns false if some recipients are still in flight or locked.
 */
export async function closeCancelled(db: Db, campaign: Campaign): Promise<boolean> {
  let last = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await cancelPending(db, [campaign.id, last, CHUNK]);
    last = rows.reduce((highest, row) => (row.id > highest ? row.id : highest), last);
    if (rows.length < CHUNK) break;
  }
  await persistCampaignResults(db, campaign.id);
  return (await countsOfCampaign(db, campaign)).pending === 0;
}
