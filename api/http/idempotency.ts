import type { Db } from '../../db/connect.ts';
import type { ProjectAccess } from '../../services/access/keys.ts';
import { type Done, once } from '../../services/idempotency/once.ts';
import { failure } from './answers.ts';
import type { HandlerContext } from './route.ts';

export const keyReused = failure('The Idempotency-Key was already used, or is in use.', 'IDEMPOTENCY_KEY_REUSED');

type KeyedCall = HandlerContext & { project: ProjectAccess };

/** Runs `work` once per `Idempotency-Key`; without the header, on every request. */
export function onceByKey<T>(
  { db, project, settings, request }: KeyedCall,
  work: (db: Db) => Promise<Omit<Done<T>, 'statusCode'>>,
): Promise<T> {
  const key = request.headers['idempotency-key'];
  const keyed = {
    projectId: project.projectId,
    key: Array.isArray(key) ? key.join() : key,
    request: request.name,
    ttlHours: settings.idempotencyKeyTtlHours,
  };
  return once(db, keyed, async (handle) => ({ ...(await work(handle)), statusCode: 200 }));
}
