import type { Db } from '../../db/connect.ts';
import { applyNotices } from '../../services/emails/apply-notices.ts';
import { type Notice, recordNotices } from '../../services/emails/notices.ts';
import { aggregateEventCounts } from '../../services/events/counts.ts';
import { setMails, storedMails, waitingNotices } from './rows/mails.ts';
import { eventually } from './waiting.ts';

/** People do not react within two seconds. */
const LATER_MS = 60_000;

/** A recipient opens, clicks or complains, or the email bounces: a minute after it was sent. */
export async function reactTo(
  db: Db,
  emailId: string,
  kind: Notice['kind'],
  more: Partial<Notice> = {},
): Promise<void> {
  const [email] = await storedMails(db, { id: emailId });
  const latest = new Date(Date.now() - LATER_MS);
  if (email.sentAt > latest) await setMails(db, { id: emailId }, { sentAt: latest });
  await recordNotices(db, [{ mail: { id: emailId }, kind, agent: 'CLIENT', ...more }]);
  await eventually(async () => {
    await applyNotices(db);
    return (await waitingNotices(db)).length === 0;
  });
  await aggregateEventCounts(db);
}
