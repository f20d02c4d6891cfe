import type { Db } from '../../db/connect.ts';
import { type BulkResult, type Job, JobInputRow } from '../../db/models/job.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { writing } from '../access/write-transaction.ts';
import { changesOf } from '../audit/record.ts';
import { countFailedExecutions, retryFailedExecutions } from '../workflows/executions/retry-failed.ts';
import { findWorkflow } from '../workflows/find.ts';
import { insertJob } from './create.ts';
import { MAX_ERRORS } from './file-chunk.ts';

/** What `job_inputs.options` holds for such a job. */
export interface RetryOptions {
  workflowId: string;
  error: string | null;
  /** When it was ordered: what fails again during the job is not retried by it. */
  failedUntil: string;
  /** The last execution that was looked at. */
  after: string | null;
}

const CHUNK_EXECUTIONS = 500;

/** As text, because a Date is coarser. */
export const readClock = statement<{ now: string }>('clock-text', 'select clock_timestamp()::text as now');

/** Creates a job that retries the FAILED executions of a workflow, or those with this error. */
export async function createRetryJob(
  db: Db,
  project: ProjectAccess,
  workflowId: string,
  error: string | undefined,
  limits: Limits = UNLIMITED,
): Promise<string> {
  const { projectId } = project;
  return writing(db, project, async (trx) => {
    await findWorkflow(trx, projectId, workflowId);
    const [clock] = await readClock(trx);
    const options: RetryOptions = { workflowId, error: error ?? null, failedUntil: clock?.now ?? '', after: null };
    const total = await countFailedExecutions(trx, { projectId, ...options });
    const id = newId();
    await JobInputRow.query(trx).insert({ jobId: id, options });
    return insertJob(
      trx,
      project,
      id,
      {
        type: 'RETRY_EXECUTIONS',
        total,
        result: { requested: total, changed: 0, unchanged: 0, failed: 0, errors: [] },
      },
      limits,
      { target: { type: 'workflow', id: workflowId }, changes: changesOf({}, { executions: total }) },
    );
  });
}

/** Retries the next executions of a job in the caller's transaction. */
export async function retryChunk(
  trx: Db,
  { id, projectId, result, total }: Job,
  options: RetryOptions,
): Promise<{ result: BulkResult; size: number; isLast: boolean }> {
  const position = { after: options.after, limit: CHUNK_EXECUTIONS };
  const which = { projectId, ...options };
  const { found, retried, last, blockedContacts } = await retryFailedExecutions(trx, which, position);
  await JobInputRow.query(trx)
    .findById(id)
    .patch({ options: { ...options, after: last } });
  const before = result as BulkResult;
  const isLast = found < CHUNK_EXECUTIONS;
  const changed = before.changed + retried;
  const failed = before.failed + blockedContacts.length;
  const errors = blockedContacts.map((contactId) => ({
    contactId,
    error: 'another execution of the contact is active',
  }));
  return {
    size: found,
    isLast,
    result: {
      requested: before.requested,
      changed,
      // What was no longer FAILED when its turn came.
      unchanged: isLast ? Math.max(0, total - changed - failed) : 0,
      failed,
      errors: [...before.errors, ...errors].slice(0, MAX_ERRORS),
    },
  };
}
