import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
import { beginAttempt, mayAskForMail } from './attempts.ts';
import { type MailSettings, mailReset, mailVerification } from './mails.ts';

export type RequestPurpose = 'VERIFY_EMAIL' | 'RESET_PASSWORD';

/**
 * Writes down that somebody wants a mail to this address: the same work, whether there is such a user or not. None of
 * these ever succeeds, so that each counts against the address and the IP.
 */
export async function requestMail(db: Db, purpose: RequestPurpose, email: string, ip: string): Promise<void> {
  await beginAttempt(db, { kind: purpose, email, ip });
  await db('accountRequests').insert({ email, purpose });
}

const BATCH = 50;

interface Row {
  id: string;
  email: string;
  purpose: RequestPurpose;
}

/** Answers what was asked for. Any number of processes may do it at once. Gives back how many requests there were. */
export async function answerRequests(db: Db, settings: MailSettings): Promise<number> {
  return inTransaction(db, async (trx) => {
    const rows: Row[] = await trx('accountRequests').orderBy('id').limit(BATCH).forUpdate().skipLocked();
    // By address: two processes then lock the counters of the same addresses in the same order.
    for (const row of rows.toSorted((a, b) => (a.email < b.email ? -1 : Number(a.email > b.email))))
      await answer(trx, settings, row);
    await trx('accountRequests')
      .whereIn(
        'id',
        rows.map(({ id }) => id),
      )
      .del();
    return rows.length;
  });
}

async function answer(trx: Db, settings: MailSettings, { email, purpose }: Row): Promise<void> {
  const user = await User.query(trx).findOne({ email });
  if (!user || (purpose === 'VERIFY_EMAIL' && user.emailVerified)) return;
  if (!(await mayAskForMail(trx, email))) return;
  if (purpose === 'VERIFY_EMAIL') await mailVerification(trx, settings, user);
  else await mailReset(trx, settings, user);
}
