import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { notFound } from '../../platform/errors.ts';
import { type Actor, changesOf, recordAudit } from '../audit/record.ts';
import { unparkOutboxMessages } from '../outbox/resolve.ts';

const lock = statement<{ id: string; projectId: string }>(
  'outbox-parked-lock',
  'select id, project_id from outbox where parked_at is not null and ($1::bigint is null or id = $1) order by id for update',
);

/** Gives a parked message all its attempts again. */
export async function retryParkedMessage(db: Db, id: string, actor?: Actor): Promise<void> {
  await inTransaction(db, async (trx) => {
    const [message] = await lock(trx, [id]);
    if (!message) throw notFound('outbox message');
    await unparkOutboxMessages(trx, [id]);
    await recordAudit(
      trx,
      { projectId: message.projectId, actor },
      { action: 'outbox.retried', target: { type: 'outbox', id } },
    );
  });
}

/** Gives all parked messages their attempts again. Returns how many; each project's log gets one entry with its number. */
export async function retryAllParkedMessages(db: Db, actor?: Actor): Promise<number> {
  return inTransaction(db, async (trx) => {
    const parked = await lock(trx, [null]);
    if (parked.length === 0) return 0;
    await unparkOutboxMessages(
      trx,
      parked.map(({ id }) => id),
    );
    const counts = new Map<string, number>();
    for (const { projectId } of parked) counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
    for (const [projectId, messages] of counts)
      await recordAudit(
        trx,
        { projectId, actor },
        { action: 'outbox.retried', target: { type: 'outbox', id: null }, changes: changesOf({}, { messages }) },
      );
    return parked.length;
  });
}
