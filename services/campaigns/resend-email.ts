import { type Db, inTransaction, wake } from '../../db/connect.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { keyIdOf, openProject, refusal } from '../access/open-project.ts';
import { reserveMails } from '../billing/limits.ts';
import type { EmailRecord } from '../emails/email-record.ts';
import { findEmail } from '../emails/find.ts';
import { resendRecipient } from './resolve.ts';

// Keeps the count of attempts, so that a late result of the last attempt still finds its row until the next one begins.
// Forgets unknown outcomes: a person has decided, so that the mail may go to any relay, and is retried like a new one.
const makePending = statement<{ sourceType: string }>(
  'email-resend',
  `update emails e set status = 'PENDING', reason = null, unknown_outcomes = 0, due_at = now(),
     bounced_at = null, bounce_type = null, updated_at = now()
   from ${openProject('$4')} project, email_contents c
   where e.id = $3 and e.project_id = project.id and e.status in ('FAILED', 'UNKNOWN')
     and c.email_id = e.id
   returning e.source_type`,
);

/** Sends a FAILED or UNKNOWN mail again, with the same Message-ID. */
export async function resendEmail(db: Db, project: ProjectAccess, id: string): Promise<EmailRecord> {
  const campaignId = await campaignIdOf(db, project, id);
  if (campaignId) return resendOfCampaign(db, project, campaignId, id);
  const resent = await retryDeadlocks(db, () => inTransaction(db, (trx) => resend(trx, project, id)));
  const email = await findEmail(db, project.projectId, id);
  if (resent) {
    wake(db, 'mail');
    return email;
  }
  if (email.status !== 'FAILED' && email.status !== 'UNKNOWN') throw notResendable(email);
  if (email.to === null) throw new ApiError(409, 'CONFLICT', 'The content of this email is no longer stored.');
  throw await refusal(db, project);
}

/** Counts the mail against the billing limit again. Workflow mail over its limit is blocked instead. */
async function resend(trx: Db, project: ProjectAccess, id: string): Promise<boolean> {
  const { projectId, keyGeneration, countsOnAccept } = project;
  const [row] = await makePending(trx, [projectId, keyGeneration, id, keyIdOf(project)]);
  if (row && countsOnAccept && row.sourceType === 'TRANSACTIONAL') await reserveMails(trx, projectId, 1);
  return row !== undefined;
}

const readCampaignId = statement<{ campaignId: string | null }>(
  'email-campaign',
  'select campaign_id from emails where id = $2 and project_id = $1',
);

async function campaignIdOf(db: Db, { projectId }: ProjectAccess, id: string): Promise<string | null | undefined> {
  return (await readCampaignId(db, [projectId, id]))[0]?.campaignId;
}

/** Resends through the campaign, which is SENDING until that is done. */
async function resendOfCampaign(db: Db, project: ProjectAccess, campaignId: string, id: string): Promise<EmailRecord> {
  const resent = await resendRecipient(db, project, { campaignId, emailId: id });
  const email = await findEmail(db, project.projectId, id);
  if (!resent) throw notResendable(email);
  return email;
}

const notResendable = ({ status }: EmailRecord) =>
  new ApiError(409, 'CONFLICT', `Only FAILED and UNKNOWN emails can be resent; this one is ${status}.`);
