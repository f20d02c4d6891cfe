import { type Db, inTransaction } from '../../db/connect.ts';
import { AccountRequest, User } from '../../db/models/user.ts';
import { beginAttempt, mayRequestMail } from './attempts.ts';
import { type MailSettings, mailReset, mailVerification } from './mails.ts';

export type RequestPurpose = AccountRequest['purpose'];

/**
 * Records a request for mail to this address, with the same work whether the user exists or not. The attempt never
 * succeeds, so each request counts against the address and the IP.
 */
export async function requestMail(db: Db, purpose: RequestPurpose, email: string, ip: string): Promise<void> {
  await beginAttempt(db, { kind: purpose, email, ip });
  await AccountRequest.query(db).insert({ email, purpose });
}

const BATCH = 50;

/** Sends the requested mails, from any number of processes. Returns how many requests it handled. */
export async function sendRequestedMails(db: Db, settings: MailSettings): Promise<number> {
  return inTransaction(db, async (trx) => {
    const rows = await AccountRequest.query(trx).orderBy('id').limit(BATCH).forUpdate().skipLocked();
    // Sorted by address, so that two processes lock the counters in the same order.
    for (const row of rows.toSorted((a, b) => (a.email < b.email ? -1 : Number(a.email > b.email))))
      await answer(trx, settings, row);
    await AccountRequest.query(trx)
      .findByIds(rows.map(({ id }) => id))
      .delete();
    return rows.length;
  });
}

async function answer(trx: Db, settings: MailSettings, { email, purpose }: AccountRequest): Promise<void> {
  const user = await User.query(trx).findOne({ email });
  if (!user || (purpose === 'VERIFY_EMAIL' && user.emailVerified)) return;
  if (!(await mayRequestMail(trx, email))) return;
  if (purpose === 'VERIFY_EMAIL') await mailVerification(trx, settings, user);
  else await mailReset(trx, settings, user);
}
