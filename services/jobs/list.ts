import type { Db } from '../../db/connect.ts';
import { Job, type JobStatus, type JobType } from '../../db/models/job.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { type CursorPage, cutPage } from '../paging.ts';

export interface JobsQuery {
  limit: number;
  cursor?: string | undefined;
  type?: JobType | undefined;
  status?: JobStatus | undefined;
}

/** Returns the newest first. */
export async function listJobs(
  db: Db,
  projectId: string,
  keys: SigningKeys,
  { limit, cursor, type, status }: JobsQuery,
): Promise<CursorPage<Job>> {
  const boundTo = [projectId, 'jobs', type ?? '', status ?? ''];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const filtered = () => Job.query(db).where({ projectId, ...(type && { type }), ...(status && { status }) });
  const [rows, total] = await Promise.all([
    filtered()
      .modify((query) => after !== undefined && query.where('id', '<', after))
      .orderBy('id', 'desc')
      .limit(limit + 1),
    after === undefined ? filtered().resultSize() : 0,
  ]);
  return cutPage(rows, { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}
