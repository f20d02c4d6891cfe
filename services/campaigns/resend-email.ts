import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { openProject, refusal } from '../access/open-project.ts';
import { reserveMails } from '../billing/caps.ts';
import type { EmailRecord } from '../emails/email-record.ts';
import { findEmail } from '../emails/find.ts';
import { resendRecipient } from './resolve.ts';

// Attempts are counted on: a late word about an earlier one still finds its row, until the next attempt begins.
const again = statement<{ source_type: string }>(
  'email-resend',
  `update emails e set status = 'PENDING', reason = null, due_at = now(), batch_id = null, updated_at = now()
   from ${openProject()} project, email_contents c
   where e.id = $3 and e.project_id = project.id and e.status in ('FAILED', 'UNKNOWN')
     and c.email_id = e.id
   returning e.source_type`,
);

/** Sends a mail once more that has failed, or of which nobody knows; under the same Message-ID. */
export async function resendEmail(db: Db, project: ProjectAccess, id: string): Promise<EmailRecord> {
  const campaignId = await campaignOf(db, project, id);
  if (campaignId) return resendOfCampaign(db, project, campaignId, id);
  const resent = await retryDeadlocks(db, () => inTransaction(db, (trx) => resend(trx, project, id)));
  const email = await findEmail(db, project.projectId, id);
  if (resent) {
    wake(db, 'mail');
    return email;
  }
  if (email.status !== 'FAILED' && email.status !== 'UNKNOWN') throw notAgain(email);
  if (email.to === null) throw new ApiError(409, 'CONFLICT', 'The content of this mail is gone.');
  throw await refusal(db, project);
}

/** It is accepted once more, and counts once more. Mail of workflows waits for itself where its cap is reached. */
async function resend(trx: Db, { projectId, keyGeneration, capped }: ProjectAccess, id: string): Promise<boolean> {
  const [row] = await again(trx, [projectId, keyGeneration, id]);
  if (row && capped && row.source_type === 'TRANSACTIONAL') await reserveMails(trx, projectId, 1);
  return row !== undefined;
}

const campaign = statement<{ campaign_id: string | null }>(
  'email-campaign',
  'select campaign_id from emails where id = $2 and project_id = $1',
);

async function campaignOf(db: Db, { projectId }: ProjectAccess, id: string): Promise<string | null | undefined> {
  return (await campaign(db, [projectId, id]))[0]?.campaign_id;
}

/** Its campaign sends it, and is SENDING again until that is done. */
async function resendOfCampaign(db: Db, project: ProjectAccess, campaignId: string, id: string): Promise<EmailRecord> {
  const again = await resendRecipient(db, project, { campaignId, emailId: id });
  const email = await findEmail(db, project.projectId, id);
  if (!again) throw notAgain(email);
  return email;
}

const notAgain = ({ status }: EmailRecord) =>
  new ApiError(409, 'CONFLICT', `Only FAILED and UNKNOWN mail can be sent again; this one is ${status}.`);
