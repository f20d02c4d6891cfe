import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type Notice, recordNotices } from '../emails/notices.ts';

/** Providers repeat a message for hours at most. */
export const DEDUPLICATION_DAYS = 7;

const recordId = statement<{ id: string }>(
  'notices-record-id',
  'insert into received_notices (id) values ($1) on conflict do nothing returning id',
);

/** Records the notices of a provider's message once. False: a message with this id was received before. */
export async function receiveNotices(db: Db, id: string, notices: Notice[]): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const [isNew] = await recordId(trx, [id]);
    if (!isNew) return false;
    await recordNotices(trx, notices);
    return true;
  });
}

const removeOld = statement(
  'notices-remove-ids',
  `delete from received_notices where received_at < now() - interval '${DEDUPLICATION_DAYS} days'`,
);

/** Housekeeping: deletes the ids of old messages. */
export const deleteOldNoticeIds = (db: Db): Promise<number> => removeOld.count(db);
