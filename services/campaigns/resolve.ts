import { type Db, wake } from '../../db/connect.ts';
import type { Campaign } from '../../db/models/campaign.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { requireCampaignBelowLimit } from '../billing/limits.ts';
import { insertUnpublishedResults } from '../emails/publish-results.ts';
import { signalCampaign, startCampaignWorkflow } from '../outbox/campaign-run.ts';
import { lockCampaignAndSending } from './find.ts';
import { hasEnded } from './send-until.ts';

export const resolutions = ['resend', 'close'] as const;
export type Resolution = (typeof resolutions)[number];

// Keeps the count of attempts, so that a late result of the last attempt still finds its row until the next one begins.
const makePending = statement<{ id: string }>(
  'campaign-resend',
  `update emails set status = 'PENDING', reason = null, due_at = now(), bounced_at = null, bounce_type = null,
     updated_at = now()
   where campaign_id = $1 and status = any ($2::text[]) and ($3::uuid[] is null or id = any ($3))
   returning id`,
);

const closeUnknown = statement<{ id: string }>(
  'campaign-close-unknown',
  `with closed as (
     update emails set status = 'FAILED', reason = 'closed: it is unknown whether it was delivered', updated_at = now()
     where campaign_id = $1 and status = 'UNKNOWN' returning *
   ),
   result as (${insertUnpublishedResults('closed')})
   select id from closed`,
);

/** Resolves all unknown outcomes of the campaign. Returns how many there were. */
export async function resolveUnknown(
  db: Db,
  project: ProjectAccess,
  id: string,
  action: Resolution,
): Promise<{ resolved: number }> {
  return writing(db, project, async (trx) => {
    const campaign = await lockCampaignAndSending(trx, project.projectId, id);
    const resolved =
      action === 'close' ? (await closeUnknown(trx, [id])).length : await resendMails(trx, campaign, ['UNKNOWN']);
    await recordAudit(trx, project, {
      action: 'campaign.resolved',
      target: { type: 'campaign', id },
      changes: changesOf({}, { action, resolved }),
    });
    return { resolved };
  });
}

/** Sends one mail of a campaign again. Returns false unless it is FAILED or UNKNOWN. A deleted campaign has no content. */
export async function resendRecipient(
  db: Db,
  project: ProjectAccess,
  { campaignId, emailId }: { campaignId: string; emailId: string },
): Promise<boolean> {
  return writing(db, project, async (trx) => {
    const campaign = await lockCampaignAndSending(trx, project.projectId, campaignId).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      throw new ApiError(409, 'CONFLICT', 'The campaign of this email was deleted.');
    });
    return (await resendMails(trx, campaign, ['FAILED', 'UNKNOWN'], [emailId])) > 0;
  });
}

/** Makes emails in these states pending again, all or those given. The campaign is locked. Returns how many there were. */
export async function resendMails(
  trx: Db,
  campaign: Campaign,
  states: string[],
  emailIds: string[] | null = null,
): Promise<number> {
  if (campaign.status === 'CANCELLED')
    throw new ApiError(409, 'CONFLICT', 'The campaign is CANCELLED, so its emails can no longer be sent.');
  if (hasEnded(campaign))
    throw new ApiError(
      409,
      'CONFLICT',
      '"sendUntil" of the campaign has passed, so its emails can no longer be sent.',
      {
        suggestion: 'Move or remove "sendUntil" with PATCH /campaigns/:id first.',
      },
    );
  const resent = await makePending(trx, [campaign.id, states, emailIds]);
  if (resent.length === 0) return 0;
  await requireCampaignBelowLimit(trx, campaign.projectId, resent.length);
  await continueSending(trx, campaign);
  wake(trx, 'campaigns');
  return resent.length;
}

/** Signals a SENDING campaign; starts a workflow of a new generation for one that has ended. */
async function continueSending(trx: Db, campaign: Campaign): Promise<void> {
  if (campaign.status === 'SENDING') return signalCampaign(trx, campaign);
  const { generation } = campaign;
  const after = await campaign
    .$query(trx)
    .patchAndFetch({ status: 'SENDING', generation: generation + 1, updatedAt: new Date() });
  await startCampaignWorkflow(trx, after);
}
