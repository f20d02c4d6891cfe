import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { notFound } from '../../platform/errors.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { unparkOutboxMessages } from '../outbox/resolve.ts';

const lock = statement<{ project_id: string }>(
  'outbox-parked-lock',
  'select project_id from outbox where id = $1 and parked_at is not null for update',
);

/** Gives a parked message all its attempts again. */
export async function retryParkedMessage(db: Db, id: string, actor?: Actor): Promise<void> {
  await inTransaction(db, async (trx) => {
    const [message] = await lock(trx, [id]);
    if (!message) throw notFound('outbox message');
    await unparkOutboxMessages(trx, [id]);
    await recordAudit(
      trx,
      { projectId: message.project_id, actor },
      { action: 'outbox.retried', target: { type: 'outbox', id } },
    );
  });
}
