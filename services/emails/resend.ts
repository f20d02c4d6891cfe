import { type Db, wake } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { resendRecipient } from '../campaigns/resolve.ts';
import type { ProjectAccess } from '../projects/keys.ts';
import { openProject, refusal } from '../projects/refusal.ts';
import type { EmailRecord } from './email-record.ts';
import { findEmail } from './find.ts';

// Attempts are counted on: a late word about an earlier one still finds its row, until the next attempt begins.
const again = statement<{ id: string }>(
  'email-resend',
  `update emails e set status = 'PENDING', reason = null, due_at = now(), batch_id = null, told = false,
     updated_at = now()
   from ${openProject()} project
   where e.id = $3 and e.project_id = project.id and e.status in ('FAILED', 'UNKNOWN')
     and exists (select 1 from email_contents c where c.email_id = e.id)
   returning e.id`,
);

/** Sends a mail once more that has failed, or of which nobody knows; under the same Message-ID. */
export async function resendEmail(db: Db, project: ProjectAccess, id: string): Promise<EmailRecord> {
  const campaignId = await campaignOf(db, project, id);
  if (campaignId) return resendOfCampaign(db, project, campaignId, id);
  const [resent] = await again(db, [project.projectId, project.keyGeneration, id]);
  const email = await findEmail(db, project.projectId, id);
  if (resent) {
    wake(db, 'mail');
    return email;
  }
  if (email.status !== 'FAILED' && email.status !== 'UNKNOWN') throw notAgain(email);
  if (email.to === null) throw new ApiError(409, 'CONFLICT', 'The content of this mail is gone.');
  throw await refusal(db, project);
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
