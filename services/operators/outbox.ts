import { type Db, inTransaction } from '../../db/connect.ts';
import { notFound } from '../../platform/errors.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { unparkOutboxMessages } from '../outbox/resolve.ts';

/** Gives a parked message all its attempts again. */
export async function retryParkedMessage(db: Db, id: string, actor?: Actor): Promise<void> {
  await inTransaction(db, async (trx) => {
    const message = await trx('outbox')
      .where({ id })
      .whereNotNull('parkedAt')
      .forUpdate()
      .first<{ projectId: string } | undefined>('projectId');
    if (!message) throw notFound('outbox message');
    await unparkOutboxMessages(trx, [id]);
    await recordAudit(
      trx,
      { projectId: message.projectId, actor },
      { action: 'outbox.retried', target: { type: 'outbox', id } },
    );
  });
}
