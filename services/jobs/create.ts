import { type Db, inTransaction } from '../../db/connect.ts';
import { type BulkResult, type BulkType, type ImportResult, Job, type JobType } from '../../db/models/job.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import type { AuditAction } from '../audit/actions.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { openCsv } from './csv.ts';
import { admitWaiting, requireRoomForJob } from './slots.ts';

interface NewJob {
  type: JobType;
  total: number;
  result: ImportResult | BulkResult;
  input: { file: Buffer } | { contactIds: string[] };
}

/** A job is audited as a whole, when it is ordered. */
const actions: Record<JobType, AuditAction> = {
  IMPORT: 'contacts.imported',
  BULK_SUBSCRIBE: 'contacts.bulk_subscribed',
  BULK_UNSUBSCRIBE: 'contacts.bulk_unsubscribed',
  BULK_DELETE: 'contacts.bulk_deleted',
};

/** Stores the whole file. Rejects only what the header shows. */
export async function createImport(
  db: Db,
  project: ProjectAccess,
  file: Buffer,
  limits: Limits = UNLIMITED,
): Promise<string> {
  await openCsv(file);
  // The worker counts the rows, because parsing five megabytes here would delay other requests.
  const result = { totalRows: 0, created: 0, updated: 0, unchanged: 0, failed: 0, errors: [] };
  return create(db, project, { type: 'IMPORT', total: 0, result, input: { file } }, limits);
}

export async function createBulkJob(
  db: Db,
  project: ProjectAccess,
  type: BulkType,
  contactIds: string[],
  limits: Limits = UNLIMITED,
): Promise<string> {
  const total = contactIds.length;
  const result = { requested: total, changed: 0, unchanged: 0, failed: 0, errors: [] };
  return create(db, project, { type, total, result, input: { contactIds } }, limits);
}

async function create(
  db: Db,
  project: ProjectAccess,
  { type, total, result, input }: NewJob,
  limits: Limits,
): Promise<string> {
  const id = newId();
  const { projectId } = project;
  await inTransaction(db, async (trx) => {
    await requireOpenProject(trx, project);
    await requireRoomForJob(trx, projectId, limits);
    await Job.query(trx).insert({ id, projectId, type, total, result });
    await trx('jobInputs').insert({ jobId: id, ...input });
    await admitWaiting(trx, projectId, limits);
    await recordAudit(trx, project, {
      action: actions[type],
      target: { type: 'job', id },
      changes: 'contactIds' in input ? changesOf({}, { contacts: total }) : {},
    });
  });
  return id;
}
