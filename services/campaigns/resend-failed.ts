import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { LOWEST_ID } from '../../platform/ids.ts';
import { lockCampaignAndSending } from './find.ts';
import { resendMails } from './resolve.ts';
import { hasEnded } from './send-until.ts';

/** FAILED recipients of a campaign whose address is not suppressed. */
export interface FailedRecipients {
  projectId: string;
  campaignId: string;
  /** Exactly this reason; null for any. */
  reason: string | null;
  /** What fails later is left out. */
  failedUntil: string;
}

const failed = `emails e join contacts k on k.id = e.contact_id and k.project_id = $1
  where e.project_id = $1 and e.campaign_id = $2 and e.status = 'FAILED' and ($3::text is null or e.reason = $3)
    and e.updated_at <= $4::timestamptz and not is_suppressed($1, coalesce(e.to_email, k.email))`;

const count = statement<{ count: number }>('campaign-failed-count', `select count(*)::integer as count from ${failed}`);

const page = statement<{ id: string }>(
  'campaign-failed-page',
  `select e.id from ${failed} and e.id > $5 order by e.id limit $6`,
);

const valuesOf = ({ projectId, campaignId, reason, failedUntil }: FailedRecipients): unknown[] => [
  projectId,
  campaignId,
  reason,
  failedUntil,
];

export async function countFailedRecipients(db: Db, recipients: FailedRecipients): Promise<number> {
  return (await count(db, valuesOf(recipients)))[0]?.count ?? 0;
}

/**
 * Sends the next ones again, in the caller's transaction. Returns how many were found and sent again, and the last id; none
 * where the campaign has been cancelled or deleted, or its `sendUntil` has passed since.
 */
export async function resendFailedRecipients(
  trx: Db,
  recipients: FailedRecipients,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ found: number; resent: number; last: string | null }> {
  const campaign = await lockCampaignAndSending(trx, recipients.projectId, recipients.campaignId).catch(ifMissing);
  if (!campaign || (campaign.status !== 'SENT' && campaign.status !== 'SENDING') || hasEnded(campaign))
    return { found: 0, resent: 0, last: after };
  const rows = await page(trx, [...valuesOf(recipients), after ?? LOWEST_ID, limit]);
  const ids = rows.map(({ id }) => id);
  const resent = ids.length > 0 ? await resendMails(trx, campaign, ['FAILED'], ids) : 0;
  return { found: ids.length, resent, last: ids.at(-1) ?? after };
}

function ifMissing(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
}
