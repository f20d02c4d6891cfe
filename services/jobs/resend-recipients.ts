import type { Db } from '../../db/connect.ts';
import { type BulkResult, type Job, JobInputRow } from '../../db/models/job.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf } from '../audit/record.ts';
import { requireCampaignBelowLimit } from '../billing/limits.ts';
import { lockCampaign } from '../campaigns/find.ts';
import { countFailedRecipients, type FailedRecipients, resendFailedRecipients } from '../campaigns/resend-failed.ts';
import { stateConflict } from '../campaigns/save.ts';
import { insertJob } from './create.ts';
import { readClock } from './retry-executions.ts';

/** What `job_inputs.options` holds for such a job. */
export interface ResendOptions extends Omit<FailedRecipients, 'projectId'> {
  /** The last email that was looked at. */
  after: string | null;
}

const CHUNK_RECIPIENTS = 1_000;

/** Creates a job that sends a campaign again to the recipients whose email failed, or failed for this reason. */
export async function createResendJob(
  db: Db,
  project: ProjectAccess,
  campaignId: string,
  reason: string | undefined,
  limits: Limits = UNLIMITED,
): Promise<string> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    const campaign = await lockCampaign(trx, projectId, campaignId);
    if (campaign.status !== 'SENT' && campaign.status !== 'SENDING')
      throw stateConflict(campaign, 'be sent again to recipients');
    const [clock] = await readClock(trx);
    const options: ResendOptions = { campaignId, reason: reason ?? null, failedUntil: clock?.now ?? '', after: null };
    const total = await countFailedRecipients(trx, { projectId, ...options });
    if (total > 0) await requireCampaignBelowLimit(trx, projectId, total);
    const id = newId();
    await JobInputRow.query(trx).insert({ jobId: id, options });
    return insertJob(
      trx,
      project,
      id,
      {
        type: 'RESEND_RECIPIENTS',
        total,
        result: { requested: total, changed: 0, unchanged: 0, failed: 0, errors: [] },
      },
      limits,
      { target: { type: 'campaign', id: campaignId }, changes: changesOf({}, { recipients: total }) },
    );
  });
}

/** Sends to the next recipients of a job, in the caller's transaction. */
export async function resendChunk(
  trx: Db,
  { id, projectId, result, total }: Job,
  options: ResendOptions,
): Promise<{ result: BulkResult; size: number; isLast: boolean }> {
  const position = { after: options.after, limit: CHUNK_RECIPIENTS };
  const { found, resent, last } = await resendFailedRecipients(trx, { projectId, ...options }, position);
  await JobInputRow.query(trx)
    .findById(id)
    .patch({ options: { ...options, after: last } });
  const before = result as BulkResult;
  const changed = before.changed + resent;
  const isLast = found < CHUNK_RECIPIENTS;
  // Unchanged is what was no longer FAILED, or suppressed, when its turn came.
  return {
    size: found,
    isLast,
    result: { ...before, changed, unchanged: isLast ? Math.max(0, total - changed) : 0 },
  };
}
