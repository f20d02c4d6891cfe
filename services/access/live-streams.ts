import { lockName } from '../../db/advisory-lock.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { processTimings } from '../../platform/timings.ts';

const MAX_STREAMS = 20;
const EXPIRES = `interval '${processTimings.live.expires} milliseconds'`;

const removeExpired = statement(
  'live-streams-remove-expired',
  `delete from live_streams where project_id = $1 and renewed_at < now() - ${EXPIRES}`,
);
const countOpen = statement<{ open: number }>(
  'live-streams-open',
  'select count(*)::integer as open from live_streams where project_id = $1',
);
const insert = statement('live-stream-insert', 'insert into live_streams (id, project_id) values ($1, $2)');
const renew = statement(
  'live-streams-renew',
  'update live_streams set renewed_at = now() where project_id = $1 and id = any ($2::uuid[])',
);
const remove = statement('live-stream-remove', 'delete from live_streams where project_id = $1 and id = $2');

/** Registers a stream of the project, over all processes. Answers 429 when it has too many. */
export async function registerStream(db: Db, projectId: string): Promise<string> {
  const id = newId();
  await inTransaction(db, async (trx) => {
    await lockName(trx, `live/${projectId}`);
    await removeExpired(trx, [projectId]);
    const [row] = await countOpen(trx, [projectId]);
    if (row && row.open >= MAX_STREAMS)
      throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', `This project already has ${MAX_STREAMS} live streams open.`, {
        headers: { 'Retry-After': '15' },
        suggestion: 'Follow several channels with one stream, and close unused streams.',
      });
    await insert(trx, [id, projectId]);
  });
  return id;
}

export async function renewStreams(db: Db, projectId: string, ids: string[]): Promise<void> {
  await renew(db, [projectId, ids]);
}

export async function removeStream(db: Db, projectId: string, id: string): Promise<void> {
  await remove(db, [projectId, id]);
}
