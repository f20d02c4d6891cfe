import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { coalesced } from '../../platform/coalesce.ts';
import type { Holder } from '../emails/delivery-ledger.ts';

const postpone = statement(
  'campaign-postpone',
  `update emails e set batch_id = null, reason = r.reason, due_at = now() + make_interval(secs => r.seconds),
     updated_at = now()
   from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::float8[]) as r (id, batch_id, token, reason, seconds)
   join delivery_batches b on b.id = r.batch_id and b.lease_token = r.token
   where e.id = r.id and e.batch_id = r.batch_id and e.status = 'PENDING'`,
);

export interface PostponedMail {
  id: string;
  holder: Holder;
  reason: string;
  seconds: number;
}

/** Returns a function that takes a mail out of its batch until later, without counting an attempt. */
export const postponer = (db: Db): ((mail: PostponedMail) => Promise<void>) =>
  coalesced(async (mails) => {
    await postpone(db, [
      mails.map(({ id }) => id),
      mails.map(({ holder }) => holder.batchId),
      mails.map(({ holder }) => holder.token),
      mails.map(({ reason }) => reason),
      mails.map(({ seconds }) => seconds),
    ]);
    return mails.map(() => undefined);
  });
