import { type Db, inTransaction } from '../../db/connect.ts';
import {
  type BulkResult,
  type BulkType,
  type ImportResult,
  type ImportType,
  Job,
  JobChunk,
  JobInputRow,
  type JobType,
  type RenderResult,
} from '../../db/models/job.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import { type ConsentContext, consentContextOf } from '../access/consent-context.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { writing } from '../access/write-transaction.ts';
import type { AuditAction } from '../audit/actions.ts';
import { type Act, changesOf, recordAudit } from '../audit/record.ts';
import { findSegment, requireStatic } from '../segments/find.ts';
import { bytesOfFile, type ImportFile, storeFile } from './chunks.ts';
import { type CellType, type CsvMapping, openCsv } from './csv.ts';
import { type ConsentOptions, findTopicColumns } from './import-consent.ts';
import { admitWaiting, requireRoomForJob } from './slots.ts';

export interface NewJob {
  type: JobType;
  total: number;
  result: ImportResult | BulkResult | RenderResult;
}

export interface ImportOptions extends ConsentOptions {
  mapping?: CsvMapping | undefined;
  /** Writes nothing; the result says what would be written. */
  dryRun?: boolean | undefined;
  /** The state of new contacts without a value in the column "subscribed". */
  subscribed?: boolean | undefined;
  /** By header: what the cells of a column must be. */
  types?: Record<string, CellType> | undefined;
  /** A static segment that all contacts of the file are added to. */
  segmentId?: string | undefined;
  /** Who ordered the job, for consent records. */
  orderedBy?: ConsentContext | undefined;
}

/** How much of a project's files may wait to be imported. */
const MAX_WAITING_BYTES = 1024 * 1024 * 1024;

/** A job is audited as a whole, when it is ordered; a RENDER job by the changes that it applies. */
const actions: Record<Exclude<JobType, 'RENDER'>, AuditAction> = {
  IMPORT: 'contacts.imported',
  SUPPRESSION_IMPORT: 'suppressions.imported',
  BULK_SUBSCRIBE: 'contacts.bulk_subscribed',
  BULK_UNSUBSCRIBE: 'contacts.bulk_unsubscribed',
  BULK_DELETE: 'contacts.bulk_deleted',
  BULK_ADD_TO_SEGMENT: 'contacts.bulk_added_to_segment',
  BULK_SET_FIELD: 'contacts.bulk_field_set',
  BULK_TOPIC_SUBSCRIBE: 'contacts.bulk_topic_subscribed',
  BULK_TOPIC_UNSUBSCRIBE: 'contacts.bulk_topic_unsubscribed',
  RESEND_RECIPIENTS: 'campaign.recipients_resent',
  RETRY_EXECUTIONS: 'workflow.executions_retried',
};

/** Stores the file in parts. Rejects only what the header shows, and what is not text. */
export async function createImport(
  db: Db,
  project: ProjectAccess,
  file: ImportFile,
  limits: Limits = UNLIMITED,
  options: ImportOptions = {},
  type: ImportType = 'IMPORT',
): Promise<string> {
  const read = bytesOfFile(file);
  const { columns } = await openCsv(Buffer.isBuffer(file) ? file : read, options.mapping);
  const topics = type === 'IMPORT' ? await findTopicColumns(db, project.projectId, columns) : undefined;
  if (options.segmentId !== undefined) requireStatic(await findSegment(db, project.projectId, options.segmentId));
  // The worker counts the rows, because parsing megabytes here would delay other requests.
  const result = {
    ...(options.dryRun && { dryRun: true }),
    totalRows: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    failed: 0,
    errors: [],
  };
  // Not `writing`, which repeats after a deadlock: the file can be read only once.
  return inTransaction(db, async (trx) => {
    await requireOpenProject(trx, project);
    const id = newId();
    // Before the job itself, whose creation locks out other jobs of the project. The foreign keys are checked at the end.
    const bytes = await storeFile(trx, id, read);
    const whole: ImportOptions = { ...options, topics, orderedBy: jobContext(project, id) };
    await JobInputRow.query(trx).insert({ jobId: id, options: whole, bytes });
    await insertJob(trx, project, id, { type, total: 0, result }, limits);
    await requireRoomForBytes(trx, project.projectId);
    return id;
  });
}

const waitingBytes = statement<{ bytes: number }>(
  'jobs-waiting-bytes',
  `select coalesce(sum(i.bytes), 0)::float8 as bytes from jobs j join job_inputs i on i.job_id = j.id
   where j.project_id = $1 and j.status in ('QUEUED', 'RUNNING')`,
);

/** Runs under the lock of `insertJob`. */
async function requireRoomForBytes(trx: Db, projectId: string): Promise<void> {
  const [waiting] = await waitingBytes(trx, [projectId]);
  if (waiting && waiting.bytes > MAX_WAITING_BYTES)
    throw new ApiError(409, 'CONFLICT', 'This project has more than 1 GB of files waiting to be imported.', {
      suggestion: 'Wait for an import to finish, or cancel one with POST /contacts/jobs/:jobId/cancel.',
    });
}

export async function createBulkJob(
  db: Db,
  project: ProjectAccess,
  type: BulkType,
  contactIds: string[],
  limits: Limits = UNLIMITED,
): Promise<string> {
  return writing(db, project, async (trx) => {
    const id = newId();
    await JobChunk.query(trx).insert({ jobId: id, number: 0, contactIds });
    await JobInputRow.query(trx).insert({ jobId: id, options: { orderedBy: jobContext(project, id) } });
    return insertJob(trx, project, id, newBulkJob(type, contactIds.length), limits);
  });
}

export const newBulkJob = (type: BulkType, total: number): NewJob & { result: BulkResult } => ({
  type,
  total,
  result: { requested: total, changed: 0, unchanged: 0, failed: 0, errors: [] },
});

/** Who orders a job that changes subscriptions, as its consent records name it. */
export const jobContext = (project: Pick<ProjectAccess, 'actor'>, jobId: string): ConsentContext => ({
  ...consentContextOf(project),
  jobId,
});

/** Inserts a job whose input is stored, and starts it if there is a free slot. */
export async function insertJob(
  trx: Db,
  project: ProjectAccess,
  id: string,
  job: NewJob,
  limits: Limits,
  audited: Pick<Act, 'target' | 'changes'> = {},
): Promise<string> {
  const { projectId } = project;
  await requireRoomForJob(trx, projectId, limits);
  await Job.query(trx).insert({ id, projectId, ...job });
  await admitWaiting(trx, projectId, limits);
  if (job.type === 'RENDER') return id;
  await recordAudit(trx, project, {
    action: actions[job.type],
    target: { type: 'job', id },
    changes: 'requested' in job.result ? changesOf({}, { contacts: job.total }) : {},
    ...audited,
  });
  return id;
}
