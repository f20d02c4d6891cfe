// What the passing of time does with submissions, in sets: reminds, expires, erases.
import { type Db, inTransaction } from '../../db/connect.ts';
import { isSuppressed } from '../../db/models/suppression.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { isDatabaseUnavailable } from '../../platform/database-errors.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import type { Settings } from '../../platform/settings.ts';
import { dropUnusedParts, type RemovedContent } from '../emails/bodies.ts';
import { eraseEmailsSql } from '../emails/erase.ts';
import { writeWithinBilling } from './confirmation-email.ts';
import { countConfirmation, lockAddress, nextConfirmation } from './confirmation-limits.ts';
import { confirmationOf, type Submission, selectSubmissions, topicsOf } from './submissions.ts';

const BATCH = 100;

/** Carries out what is due, from any number of processes. Returns how many submissions it changed. */
export async function carryOutDue(db: Db, settings: Pick<Settings, 'forms'>): Promise<number> {
  let total = 0;
  const failures: unknown[] = [];
  for (;;) {
    const count = await carryOutNext(db, settings, failures);
    total += count;
    if (count < BATCH) break;
  }
  if (failures.length > 0) throw failures[0];
  return total;
}

/** The next set, or each row in a separate transaction where the set fails: one row does not block others. */
async function carryOutNext(db: Db, settings: Pick<Settings, 'forms'>, failures: unknown[]): Promise<number> {
  const carryOut = (id: string | null) =>
    retryDeadlocks(db, () => inTransaction(db, (trx) => carryOutSet(trx, settings, id)));
  try {
    const count = await carryOut(null);
    if (count > 0) faultPoint('timer-after-commit');
    return count;
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
  }
  const rows = await findDue(db, [BATCH]);
  for (const { id } of rows)
    try {
      await carryOut(id);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      await postpone(db, [id, new Date(Date.now() + LATER_MS)]);
      failures.push(error);
    }
  return rows.length;
}

const DUE = "s.due_at <= now() and s.status <> 'RECEIVED'";
const findDue = statement<{ id: string }>(
  'submissions-due-ids',
  `select s.id from form_submissions s where ${DUE} order by s.due_at limit $1`,
);
const postpone = statement(
  'submission-due-later',
  'update form_submissions set due_at = $2 where id = $1 and due_at <= now()',
);
const pick = statement<Submission>(
  'submissions-due',
  `${selectSubmissions(`${DUE} and ($2::uuid is null or s.id = $2)`)} order by s.due_at limit $1 for update of s skip locked`,
);

const findWaiting = statement<{ waiting: boolean }>(
  'submissions-waiting',
  "select exists (select from form_submissions s where s.due_at is not null and s.status <> 'RECEIVED') as waiting",
);

/** Whether time will do anything with a submission. */
export const hasWaitingSubmissions = async (db: Db): Promise<boolean> => (await findWaiting(db))[0]?.waiting ?? false;

async function carryOutSet(trx: Db, settings: Pick<Settings, 'forms'>, id: string | null): Promise<number> {
  const rows = await pick(trx, [BATCH, id]);
  const now = Date.now();
  const waiting = rows.filter(({ status }) => status === 'PENDING');
  const over = waiting.filter(({ expiresAt }) => expiresAt === null || expiresAt.getTime() <= now);
  for (const { projectId, id } of over) await expire(trx, [projectId, id]);
  // Sorted, so that two processes lock the addresses in the same order.
  const open = waiting
    .filter((row) => !over.includes(row))
    .sort((a, b) => ((a.email ?? '') < (b.email ?? '') ? -1 : 1));
  for (const row of open) await remind(trx, settings, row);
  await erase(
    trx,
    rows.filter(({ status }) => status !== 'PENDING').map(({ id }) => id),
  );
  if (rows.length > 0) faultPoint('timer-before-commit');
  return rows.length;
}

const expire = statement('submission-expire-due', 'select expire_submission($1, $2)');

const setNext = statement(
  'submission-reminded',
  `update form_submissions set reminded_at = case when $3::uuid is not null then now() else reminded_at end,
     last_sent_at = case when $3::uuid is not null then now() else last_sent_at end,
     last_email_id = coalesce($3, last_email_id), due_at = least($4::timestamptz, expires_at)
   where project_id = $1 and id = $2`,
);
const askSuppressed = statement<{ suppressed: boolean }>(
  'submission-suppressed',
  `select ${isSuppressed('$1', '$2')} as suppressed`,
);
const LATER_MS = 3_600_000;

/** Once; an hour later where the limits do not allow it now. A deleted form sends no reminder. */
async function remind(trx: Db, settings: Pick<Settings, 'forms'>, submission: Submission): Promise<void> {
  const { projectId, id, email, remindedAt, deletedAt } = submission;
  const next = (emailId: string | null, at: Date | null) => setNext(trx, [projectId, id, emailId, at]);
  if (email === null || remindedAt || deletedAt) return void (await next(null, null));
  const [asked] = await askSuppressed(trx, [projectId, email]);
  if (asked?.suppressed) return void (await next(null, null));
  await lockAddress(trx, email);
  const isLimited = await nextConfirmation(trx, email, settings.forms.confirmationsPerAddressPerDay);
  const topics = await topicsOf(trx, submission);
  const request = confirmationOf({ ...submission, email }, topics, 'reminder');
  const emailId = isLimited ? undefined : await writeWithinBilling(trx, request);
  if (!emailId) return void (await next(null, new Date(Date.now() + LATER_MS)));
  await countConfirmation(trx, email);
  await next(emailId, null);
}

const eraseRows = statement(
  'submissions-erase',
  `update form_submissions set email = null, data = null, defaults = null, due_at = null,
     context = context - 'ip' - 'userAgent' - 'evidence'
   where id = any ($1::uuid[])`,
);
// A confirmation that still waits is not sent any more: its link has expired.
const eraseEmails = statement(
  'submissions-erase-emails',
  eraseEmailsSql('submission_id = any ($2::uuid[]) and without_events'),
);
const eraseContents = statement<RemovedContent>(
  'submissions-erase-contents',
  `delete from email_contents c using emails e
   where e.submission_id = any ($1::uuid[]) and e.without_events and c.email_id = e.id
   returning c.body_id, c.attachment_set`,
);
const eraseWebhooks = statement('submissions-erase-webhooks', 'select erase_form_webhooks($1)');

/** Seven days after a submission ended unconfirmed nothing is left of the address but its hash. */
async function erase(trx: Db, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await eraseRows(trx, [ids]);
  await eraseEmails(trx, ['submission expired', ids]);
  await dropUnusedParts(trx, await eraseContents(trx, [ids]));
  await eraseWebhooks(trx, [ids]);
}
