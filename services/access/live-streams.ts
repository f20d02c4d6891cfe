import { type Db, inTransaction } from '../../db/connect.ts';
import { ApiError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { processTimings } from '../../platform/timings.ts';

const MAX_STREAMS = 20;
const EXPIRES = `interval '${processTimings.live.expires} milliseconds'`;

/** Registers a stream of the project, over all processes. Answers 429 when it has too many. */
export async function registerStream(db: Db, projectId: string): Promise<string> {
  const id = newId();
  await inTransaction(db, async (trx) => {
    await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`live/${projectId}`]);
    await trx.raw(`delete from live_streams where project_id = ? and renewed_at < now() - ${EXPIRES}`, [projectId]);
    const { rows } = await trx.raw('select count(*)::integer as open from live_streams where project_id = ?', [
      projectId,
    ]);
    if (rows[0].open >= MAX_STREAMS)
      throw new ApiError(429, 'RATE_LIMIT_EXCEEDED', `This project already has ${MAX_STREAMS} live streams open.`, {
        headers: { 'Retry-After': '15' },
        suggestion: 'Follow several topics with one stream, and close unused streams.',
      });
    await trx('liveStreams').insert({ id, projectId });
  });
  return id;
}

export async function renewStreams(db: Db, projectId: string, ids: string[]): Promise<void> {
  await db('liveStreams').where({ projectId }).whereIn('id', ids).update({ renewedAt: db.fn.now() });
}

export async function removeStream(db: Db, projectId: string, id: string): Promise<void> {
  await db('liveStreams').where({ projectId, id }).del();
}
