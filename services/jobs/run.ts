import { type Db, inTransaction } from '../../db/connect.ts';
import {
  type BulkResult,
  type BulkType,
  type ImportResult,
  Job,
  JobChunk,
  JobInputRow,
  type RenderResult,
} from '../../db/models/job.ts';
import { readFieldRoom } from '../../db/models/name-limits.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { type Limits, UNLIMITED } from '../../platform/limits.ts';
import { lockJobSegment } from '../segments/static-members.ts';
import { archivedTopics } from '../topics/find.ts';
import { applyBulk } from './apply-bulk.ts';
import { CHUNK_CONTACTS, storedBytes } from './chunks.ts';
import type { ImportOptions } from './create.ts';
import type { BulkOptions } from './create-by-condition.ts';
import { type CsvColumns, type CsvFile, type CsvPosition, openCsv } from './csv.ts';
import { storeErrors } from './errors.ts';
import { type FileChunk, MAX_ERRORS } from './file-chunk.ts';
import { ImportChunk } from './import-chunk.ts';
import { splitColumns } from './import-consent.ts';
import { type RenderOptions, renderChunk } from './render-documents.ts';
import { type ResendOptions, resendChunk } from './resend-recipients.ts';
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
    if (type === 'RETRY_EXECUTIONS') return await slice<RetryOptions>(db, job, isOver, limits, retryChunk);
    if (type === 'RENDER') return await slice<RenderOptions>(db, job, isOver, limits, renderChunk);
    if (type === 'RESEND_RECIPIENTS') return await slice<ResendOptions>(db, job, isOver, limits, resendChunk);
    return await bulkSlice(db, job, type, isOver, limits);
  } catch (error) {
    if (error instanceof Superseded) return progressOf(await Job.query(db).findById(jobId).throwIfNotFound());
    throw error;
  }
}

const start = statement(
  'job-start',
  `update jobs set status = 'RUNNING', started_at = coalesce(started_at, now())
   where id = $1 and status in ('QUEUED', 'RUNNING')`,
);

async function begin(db: Db, id: string): Promise<Job | undefined> {
  return (await start.count(db, [id])) > 0 ? Job.query(db).findById(id) : undefined;
}

const progressOf = ({ status, processed, total }: Job): JobProgress => ({
  ended: status !== 'QUEUED' && status !== 'RUNNING',
  processed,
  total,
});

async function importSlice(db: Db, job: Job, isOver: IsOver, limits: Limits): Promise<JobProgress> {
  const input = await JobInputRow.query(db).findById(job.id);
  if (!input) throw new Superseded();
  const options = input.options as ImportOptions;
  const file = await openCsv(storedBytes(db, job.id), options.mapping);
  let current = job.total > 0 ? job : await countRows(db, job, file);
  const newChunk = await chunkMaker(db, job, file, options, limits);
  const after = { position: Number(input.position), row: input.row };
  for await (const chunk of readAhead(chunksOf(file, after, newChunk))) {
    current = await applyChunk(db, current, limits, async (trx, { id, projectId, result }) => {
      const before = result as ImportResult;
      const { segmentId } = options;
      const segment = segmentId === undefined ? undefined : await lockJobSegment(trx, projectId, segmentId);
      const updated = await chunk.apply(trx, { id, projectId, segment }, before);
      await storeErrors(trx, { id, projectId }, chunk.errors, before.failed);
      await JobInputRow.query(trx)
        .findById(id)
        .patch({ position: String(chunk.end.position), row: chunk.end.row });
      return { result: updated, size: chunk.size };
    });
    if (isOver()) return progressOf(current);
  }
  return progressOf(await applyChunk(db, current, limits, async (_, { result }) => ({ result, size: 0 })));
}

async function chunkMaker(
  db: Db,
  { type, projectId }: Job,
  file: CsvFile,
  options: ImportOptions,
  limits: Limits,
): Promise<() => FileChunk> {
  if (type === 'SUPPRESSION_IMPORT') return () => new SuppressionChunk(file.columns);
  const { subscribed = true, types = {}, orderedBy: context = { method: 'IMPORT' } } = options;
  const { columns, consent: consentColumns } = splitColumns(file.columns, options);
  const typed = file.header.flatMap((name, column) => {
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    return type ? [[column, type] as const] : [];
  });
  const consent = consentColumns && {
    columns: consentColumns,
    consent: options.consent,
    confirmation: options.confirmation,
    context,
    archived: await archivedTopics(db, projectId),
  };
  const room = await roomForFields(db, projectId, columns, limits);
  const rules = { ...room, subscribed, types: new Map(typed), context, consent };
  return () => new ImportChunk(columns, rules);
}

/** Accepts new columns in their order as long as the project has room; rows with a value in another one are rejected. */
async function roomForFields(db: Db, projectId: string, columns: CsvColumns, limits: Limits) {
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

/** Every stored part but the last has the same number of contacts, so `processed` identifies the next one. */
async function bulkSlice(db: Db, job: Job, type: BulkType, isOver: IsOver, limits: Limits): Promise<JobProgress> {
  const options = (await JobInputRow.query(db).findById(job.id))?.options as BulkOptions | undefined;
  for (let current = job; ; ) {
    const number = Math.floor(current.processed / CHUNK_CONTACTS);
    const chunk = await JobChunk.query(db).findById([job.id, number]).select('contactIds');
    // A job without contacts has no part.
    const contactIds = chunk?.contactIds ?? [];
    if (!chunk && current.processed < current.total) throw new Superseded();
    current = await applyChunk(db, current, limits, async (trx, { projectId, result }) => ({
      result: mergeResults(result as BulkResult, await applyBulk(trx, projectId, { type, ...options }, contactIds)),
      size: contactIds.length,
    }));
    const progress = progressOf(current);
    if (progress.ended || isOver()) return progress;
  }
}

const mergeResults = (before: BulkResult, chunk: BulkResult): BulkResult => ({
  ...before,
  changed: before.changed + chunk.changed,
  unchanged: before.unchanged + chunk.unchanged,
  failed: before.failed + chunk.failed,
  errors: [...before.errors, ...chunk.errors].slice(0, MAX_ERRORS),
});

/** Applies chunks of a job whose options hold its position, until nothing is left. */
async function slice<Options>(
  db: Db,
  job: Job,
  isOver: IsOver,
  limits: Limits,
  applyNext: (trx: Db, job: Job, options: Options) => Promise<AppliedChunk>,
): Promise<JobProgress> {
  for (let current = job; ; ) {
    current = await applyChunk(db, current, limits, async (trx, locked) => {
      const input = await JobInputRow.query(trx).findById(job.id);
      if (!input) throw new Superseded();
      return applyNext(trx, locked, input.options as Options);
    });
    const progress = progressOf(current);
    if (progress.ended || isOver()) return progress;
  }
}

interface AppliedChunk {
  result: ImportResult | BulkResult | RenderResult;
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
      if (isDone) await JobInputRow.query(trx).deleteById(id);
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
    await JobInputRow.query(trx).deleteById(id);
    await admitWaiting(trx, failed.projectId, limits);
  });
}
