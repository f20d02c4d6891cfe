import { Readable } from 'node:stream';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { csvLines } from '../../platform/csv-lines.ts';

/** A row of a file that was not imported. */
export interface RowError {
  row: number;
  email: string | null;
  error: string;
}

/** Bounds what a file of nothing but bad rows takes. */
const MAX_STORED = 1_000_000;
const KEPT_DAYS = 30;
const PAGE = 2_000;

const store = statement(
  'job-errors-store',
  `insert into job_errors (job_id, project_id, "row", email, error)
   select $1, $2, bad."row", bad.email, bad.error
   from unnest($3::integer[], $4::text[], $5::text[]) as bad ("row", email, error) on conflict do nothing`,
);

/** Stores bad rows, of which `before` are stored already. */
export async function storeErrors(
  trx: Db,
  { id, projectId }: { id: string; projectId: string },
  errors: RowError[],
  before: number,
): Promise<void> {
  const stored = errors.slice(0, Math.max(0, MAX_STORED - before));
  if (stored.length === 0) return;
  const column = (name: keyof RowError) => stored.map((error) => error[name]);
  await store(trx, [id, projectId, column('row'), column('email'), column('error')]);
}

const page = statement<RowError>(
  'job-errors-page',
  `select "row", email, error from job_errors where project_id = $1 and job_id = $2 and "row" > $3 order by "row" limit $4`,
);

/** Returns all bad rows of an import as CSV, in their order. */
export const exportErrors = (db: Db, projectId: string, jobId: string): Readable =>
  Readable.from(pages(db, projectId, jobId), { objectMode: false });

async function* pages(db: Db, projectId: string, jobId: string): AsyncGenerator<string> {
  yield csvLines([['row', 'email', 'error']]);
  for (let after = 0; ; ) {
    const rows = await page(db, [projectId, jobId, after, PAGE]);
    const last = rows.at(-1);
    if (!last) return;
    yield csvLines(rows.map(({ row, email, error }) => [row, email, error]));
    after = last.row;
  }
}

const removeOld = statement<{ count: number }>(
  'job-errors-remove',
  `with removed as (
     delete from job_errors where job_id in (
       select distinct e.job_id from job_errors e join jobs j on j.id = e.job_id
       where j.completed_at < now() - interval '${KEPT_DAYS} days' limit 1)
     returning 1
   ) select count(*)::integer as count from removed`,
);

/** Housekeeping: removes the errors of old jobs, one job at a time. */
export async function deleteOldErrors(db: Db): Promise<void> {
  for (let removed = 1; removed > 0; ) removed = (await removeOld(db, []))[0]?.count ?? 0;
}
