import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { type Notice, recordNotices } from '../emails/notices.ts';

/** A provider repeats itself for hours at most; what is older than this is not looked at any more. */
export const REMEMBERED_DAYS = 7;

const remember = statement<{ id: string }>(
  'notices-remember',
  'insert into received_notices (id) values ($1) on conflict do nothing returning id',
);

/** Takes what a provider tells under an id of its own, once. False: it has told that before. */
export async function receiveNotices(db: Db, id: string, notices: Notice[]): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const [isNew] = await remember(trx, [id]);
    if (!isNew) return false;
    await recordNotices(trx, notices);
    return true;
  });
}

export async function forgetNotices(db: Db): Promise<number> {
  return db('receivedNotices')
    .where('receivedAt', '<', db.raw('now() - make_interval(days => ?)', [REMEMBERED_DAYS]))
    .del();
}
