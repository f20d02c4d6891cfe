import { type Db, wake } from '../../db/connect.ts';
import type { Domain } from '../../db/models/domain.ts';

/** Mail that was held because the domain had lost its verification goes out at once, not when it is next looked at. */
export async function regain(trx: Db, { projectId }: Pick<Domain, 'projectId'>): Promise<void> {
  await trx('emails')
    .where({ projectId, status: 'PENDING', reason: 'domain not verified' })
    .whereNull('batchId')
    .update({ dueAt: trx.fn.now() });
  wake(trx, 'mail');
}
