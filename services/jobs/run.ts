import { type Db, inTransaction } from '../../db/connect.ts';
import { type BulkResult, type BulkType, type ImportResult, Job } from '../../db/models/job.ts';
import { readFieldRoom } from '../../db/models/name-limits.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { newId } from '../../platform/ids.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import { deleteContacts } from '../removal/contact.ts';
import { CHUNK_CONTACTS, storedBytes } from './chunks.ts';
import type { ImportOptions } from './create.ts';
import { type CsvFile, type CsvPosition, openCsv } from './csv.ts';
import { storeErrors } from './errors.ts';
import { type FileChunk, MAX_ERRORS } from './file-chunk.ts';
import { ImportChunk } from './import-chunk.ts';
import { type RetryOptions, retryChunk } from './retry-executions.ts';
import { admitWaiting } from './slots.ts';
import { SuppressionChunk } from './suppression-chunk.ts';

export interface JobProgress {
  /** The job is completed, failed or cancelled. */
  ended: boolean;
  processed: number;
  total: number;
}

export type IsOver = () => boolean;

/** The job has ended, or another worker has continued it, since this slice began. */
class Superseded extends Error {}

/**
 * Continues a job. Each chunk is applied in the transaction that raises `processed`, under the lock of the job's row, so a
 * crash loses no chunk and no chunk is applied twice. Stops after the current chunk when `isOver` returns true.
 */
export async function runSlice(
  db: Db,
  jobId: string,
  isOver: IsOver,
  limits: Limits = UNLIMITED,
): Promise<JobProgress> {
  const job = await begin(db, jobId);
  if (!job) return { ended: true, processed: 0, total: 0 };
  try {
    const { type } = job;
    if (type === 'IMPORT' || type === 'SUPPRESSION_IMPORT') return await importSlice(db, job, isOver, limits);
    if (type === 'RETRY_EXECUTIONS') return await retrySlice(db, job, isOver, limits);
    return await bulkSlice(db, job, type, isOver, limits);
  } catch (error) {
    if (error instanceof Superseded) return progressOf(await Job.query(db).findById(jobId).throwIfNotFound());
    throw error;
  }
}

async function begin(db: Db, id: string): Promise<Job | undefined> {
  const [job] = await Job.query(db)
    .patch({ status: 'RUNNING', startedAt: Job.raw('coalesce(started_at, now())') as never })
    .where({ id })
    .whereIn('status', ['QUEUED', 'RUNNING'])
    .returning('*');
  return job;
}

const progressOf = ({ status, processed, total }: Job): JobProgress => ({
  ended: status !== 'QUEUED' && status !== 'RUNNING',
  processed,
  total,
});

async function importSlice(db: Db, job: Job, isOver: IsOver, limits: Limits): Promise<JobProgress> {
  const input = await db('jobInputs').where({ jobId: job.id }).first<JobInput | undefined>();
  if (!input) throw new Superseded();
  const file = await openCsv(storedBytes(db, job.id), input.options.mapping);
  let current = job.total > 0 ? job : await countRows(db, job, file);
  const newChunk = await chunkMaker(db, job, file, input.options, limits);
  const after = { position: Number(input.position), row: input.row };
  for await (const chunk of readAhead(chunksOf(file, after, newChunk))) {
    current = await applyChunk(db, current, limits, async (trx, { id, projectId, result }) => {
      const before = result as ImportResult;
      const updated = await chunk.apply(trx, projectId, before);
      await storeErrors(trx, { id, projectId }, chunk.errors, before.failed);
      await trx('jobInputs').where({ jobId: id }).update(chunk.end);
      return { result: updated, size: chunk.size };
    });
    if (isOver()) return progressOf(current);
  }
  return progressOf(await applyChunk(db, current, limits, async (_, { result }) => ({ result, size: 0 })));
}

interface JobInput {
  options: ImportOptions;
  position: string;
  row: number;
}

async function chunkMaker(
  db: Db,
  { type, projectId }: Job,
  file: CsvFile,
  { subscribed = true }: ImportOptions,
  limits: Limits,
): Promise<() => FileChunk> {
  const { columns } = file;
  if (type === 'SUPPRESSION_IMPORT') return () => new SuppressionChunk(columns);
  const rules = { ...(await rulesOf(db, projectId, file, limits)), subscribed };
  return () => new ImportChunk(columns, rules);
}

/** Accepts new columns in their order as long as the project has room; rows with a value in another one are rejected. */
async function rulesOf(db: Db, projectId: string, { columns }: CsvFile, limits: Limits) {
  const keys = [...new Set(columns.fields.map(({ key }) => key))];
  const { fields, unknown } = await readFieldRoom(db, projectId, keys);
  return { limits, refusedKeys: new Set(unknown.slice(Math.max(0, limits.customFields - fields))) };
}

/** Stores the count only once, because another worker may have counted and applied chunks since. */
async function countRows(db: Db, job: Job, file: CsvFile): Promise<Job> {
  let total = 0;
  for await (const rows of file.rows()) total += rows.length;
  const result = { ...(job.result as ImportResult), totalRows: total };
  await Job.query(db).patch({ total, result }).where({ id: job.id, total: 0, processed: 0 });
  return Job.query(db).findById(job.id).throwIfNotFound();
}

async function* chunksOf(file: CsvFile, after: CsvPosition, newChunk: () => FileChunk): AsyncIterable<FileChunk> {
  let chunk = newChunk();
  for await (const batch of file.rows(after))
    for (const row of batch) {
      chunk.add(row);
      if (!chunk.isFull) continue;
      yield chunk;
      chunk = newChunk();
    }
  if (chunk.size > 0) yield chunk;
}

/** Reads the next item while the caller works on the current one: the file is parsed while Postgres writes. */
async function* readAhead<T>(items: AsyncIterable<T>): AsyncIterable<T> {
  const iterator = items[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = iterator.next();
      // Thrown when the caller asks for it, if it ever does.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await next.catch(() => {});
    await iterator.return?.();
  }
}

/** Every stored part but the last has the same number of contacts, so `processed` tells the next one. */
async function bulkSlice(db: Db, job: Job, type: BulkType, isOver: IsOver, limits: Limits): Promise<JobProgress> {
  for (let current = job; ; ) {
    const number = Math.floor(current.processed / CHUNK_CONTACTS);
    const chunk = await db('jobChunks')
      .where({ jobId: job.id, number })
      .first<{ contactIds: string[] } | undefined>('contactIds');
    // A job without contacts has no part.
    const contactIds = chunk?.contactIds ?? [];
    if (!chunk && current.processed < current.total) throw new Superseded();
    current = await applyChunk(db, current, limits, async (trx, { projectId, result }) => ({
      result: mergeResults(result as BulkResult, await applyBulk(trx, projectId, type, contactIds)),
      size: contactIds.length,
    }));
    const progress = progressOf(current);
    if (progress.ended || isOver()) return progress;
  }
}

const mergeResults = (before: BulkResult, chunk: BulkResult): BulkResult => ({
  requested: before.requested,
  changed: before.changed + chunk.changed,
  unchanged: before.unchanged + chunk.unchanged,
  failed: before.failed + chunk.failed,
  errors: [...before.errors, ...chunk.errors].slice(0, MAX_ERRORS),
});

/** Retries failed executions until none of those that had failed when the job was ordered is left. */
async function retrySlice(db: Db, job: Job, isOver: IsOver, limits: Limits): Promise<JobProgress> {
  for (let current = job; ; ) {
    current = await applyChunk(db, current, limits, async (trx, locked) => {
      const input = await trx('jobInputs').where({ jobId: job.id }).first<{ options: RetryOptions } | undefined>();
      if (!input) throw new Superseded();
      return retryChunk(trx, locked, input.options);
    });
    const progress = progressOf(current);
    if (progress.ended || isOver()) return progress;
  }
}

interface AppliedChunk {
  result: ImportResult | BulkResult;
  size: number;
  /** Nothing follows, however much was processed. Unset: the job is done when everything is processed. */
  isLast?: boolean;
}

/** Applies a chunk and raises `processed` in one transaction. */
async function applyChunk(
  db: Db,
  { id, processed, total }: Job,
  limits: Limits,
  apply: (trx: Db, job: Job) => Promise<AppliedChunk>,
): Promise<Job> {
  const applied = await retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const job = await Job.query(trx).findById(id).forUpdate();
      if (job?.status !== 'RUNNING' || job.processed !== processed) throw new Superseded();
      const { result, size, isLast } = await apply(trx, job);
      const isDone = isLast ?? processed + size >= total;
      if (isDone) await trx('jobInputs').where({ jobId: id }).del();
      const updated = await job.$query(trx).patchAndFetch({
        processed: isLast ? total : Math.min(processed + size, total),
        result,
        ...(isDone ? { status: 'COMPLETED', completedAt: new Date() } : {}),
      });
      if (isDone) await admitWaiting(trx, job.projectId, limits);
      faultPoint('job-chunk-applied');
      return updated;
    }),
  );
  faultPoint('job-chunk-committed');
  return applied;
}

/** Ends a job that failed too often. */
export async function failJob(db: Db, id: string, reason: string, limits: Limits = UNLIMITED): Promise<void> {
  await inTransaction(db, async (trx) => {
    const [failed] = await Job.query(trx)
      .patch({ status: 'FAILED', failedReason: reason, completedAt: new Date() })
      .where({ id })
      .whereIn('status', ['QUEUED', 'RUNNING'])
      .returning('projectId');
    if (!failed) return;
    await trx('jobInputs').where({ jobId: id }).del();
    await admitWaiting(trx, failed.projectId, limits);
  });
}

// Locks all contacts before changing any, in the order of their addresses, as all statements that write several.
const subscribe = statement<{ id: string; is_changed: boolean }>(
  'contacts-subscribe',
  `with locked as materialized (
     select id from contacts where project_id = $1 and id = any ($2::uuid[]) order by email collate "C" for update
   )
   select written.id, written.is_changed
   from locked join unnest($2::uuid[], $3::uuid[]) as given (id, event_id) using (id),
     update_contact($1::uuid, locked.id, null, $4::boolean, '{}', '[]', given.event_id) as written
   where written.id is not null`,
);

/** Applies the whole job in the caller's transaction: at most a thousand contacts, in few statements. */
async function applyBulk(trx: Db, projectId: string, type: BulkType, contactIds: string[]): Promise<BulkResult> {
  const ids = [...new Set(contactIds.map((id) => id.toLowerCase()))];
  const known = await apply(trx, projectId, type, ids);
  const unknown = ids.filter((id) => !known.has(id));
  const changed = [...known.values()].filter(Boolean).length;
  return {
    requested: contactIds.length,
    changed,
    unchanged: contactIds.length - changed - unknown.length,
    failed: unknown.length,
    errors: unknown.map((contactId) => ({ contactId, error: 'contact not found in this project' })),
  };
}

/** Returns the existing contacts, and whether each was changed. */
async function apply(trx: Db, projectId: string, type: BulkType, ids: string[]): Promise<Map<string, boolean>> {
  if (type === 'BULK_DELETE') {
    const deleted = await deleteContacts(trx, projectId, ids);
    return new Map(deleted.map((id) => [id, true]));
  }
  const rows = await subscribe(trx, [projectId, ids, ids.map(() => newId()), type === 'BULK_SUBSCRIBE']);
  return new Map(rows.map(({ id, is_changed }) => [id, is_changed]));
}
