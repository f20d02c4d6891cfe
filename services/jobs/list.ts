import type { Db } from '../../db/connect.ts';
import { Job, type JobStatus, type JobType } from '../../db/models/job.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { type CursorPage, cutPage } from '../paging.ts';
import { readableJobTypes } from './scopes.ts';

export interface JobsQuery {
  limit: number;
  cursor?: string | undefined;
  type?: JobType | undefined;
  status?: JobStatus | undefined;
}

/** Returns the jobs that the caller may read, the newest first. */
export async function listJobs(
  db: Db,
  project: ProjectAccess,
  keys: SigningKeys,
  { limit, cursor, type, status }: JobsQuery,
): Promise<CursorPage<Job>> {
  const { projectId } = project;
  const types = readableJobTypes(project).filter((readable) => type === undefined || readable === type);
  const boundTo = [projectId, 'jobs', type ?? '', status ?? ''];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const filtered = () =>
    Job.query(db)
      .where({ projectId, ...(status && { status }) })
      .whereIn('type', types);
  const [rows, total] = await Promise.all([
    filtered()
      .modify((query) => after !== undefined && query.where('id', '<', after))
      .orderBy('id', 'desc')
      .limit(limit + 1),
    after === undefined ? filtered().resultSize() : 0,
  ]);
  return cutPage(rows, { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}
