// The pages behind the links of a confirmation email.
import { type Db, inTransaction } from '../../db/connect.ts';
import type { ConfirmMode, FormRedirects, FormTranslation } from '../../db/models/form.ts';
import { retryDeadlocks } from '../../db/retry.ts';
import { statement } from '../../db/statement.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { type Language, languageOf } from '../../platform/languages.ts';
import type { Settings } from '../../platform/settings.ts';
import type { ConfirmationToken } from '../emails/links.ts';
import { writeConfirmation } from './confirmation-email.ts';
import { countConfirmation, lockAddress, nextConfirmation } from './confirmation-limits.ts';
import { confirmationOf, formNameIn, lockSubmission, type SubmissionStatus, topicsOf } from './submissions.ts';

/** What the page is about. */
export interface Confirmation {
  id: string;
  projectId: string;
  status: SubmissionStatus;
  contactId: string | null;
  formId: string | null;
  /** Whether the address is still kept, so that the email can be sent again. */
  hasAddress: boolean;
  name: string;
  language: Language;
  mode: ConfirmMode;
  redirects: Partial<FormRedirects>;
  topics: { id: string; name: string }[];
}

interface Row {
  id: string;
  projectId: string;
  status: SubmissionStatus;
  contactId: string | null;
  formId: string | null;
  topicIds: string[];
  hasAddress: boolean;
  isOver: boolean;
  locale: string | null;
  language: string;
  projectName: string;
  formName: string | null;
  translations: Record<string, FormTranslation> | null;
  confirm: ConfirmMode | null;
  redirects: FormRedirects | null;
}

// The link names an email of the submission, so that no other token opens it.
const read = statement<Row>(
  'confirmation-read',
  `select s.id, s.project_id, s.status, s.contact_id, s.form_id, s.topic_ids, s.email is not null as has_address,
     s.status = 'PENDING' and s.expires_at <= now() as is_over, s.context ->> 'locale' as locale, p.language,
     p.name as project_name, f.name as form_name, f.translations, f.confirm, f.redirects
   from form_submissions s
   join emails e on e.id = $2 and e.submission_id = s.id and e.project_id = s.project_id
   join projects p on p.id = s.project_id and p.deleted_at is null
   left join forms f on f.id = s.form_id and f.project_id = s.project_id
   where s.id = $1`,
);

/** Undefined: there is no such submission any more. */
export async function findConfirmation(db: Db, token: ConfirmationToken): Promise<Confirmation | undefined> {
  const [row] = await read(db, [token.submissionId, token.emailId]);
  if (!row) return undefined;
  const { id, projectId, contactId, formId, hasAddress, topicIds, locale, redirects } = row;
  return {
    id,
    projectId,
    // The timer may be late.
    status: row.isOver ? 'EXPIRED' : row.status,
    contactId,
    formId,
    hasAddress,
    name: formNameIn({ name: row.formName ?? row.projectName, translations: row.translations ?? {} }, locale),
    language: languageOf(locale, row.language),
    mode: row.confirm ?? 'LINK',
    redirects: redirects ?? {},
    topics: (await topicsOf(db, { projectId, topicIds, locale })).map((topic) => ({ id: topic.id, name: topic.name })),
  };
}

/** Who presses the button. */
export interface ConfirmingVisitor {
  ip: string;
  userAgent: string | undefined;
}

interface Outcome {
  status: SubmissionStatus | null;
  contactId: string | null;
}

const apply = statement<Outcome>(
  'confirmation-apply',
  'select status, contact_id from apply_submission($1, $2, $3::uuid[], $4::jsonb)',
);

/** Confirms, once. `topicIds` are those chosen on the page; undefined for all. Returns the page afterwards. */
export async function confirm(
  db: Db,
  token: ConfirmationToken,
  topicIds: string[] | undefined,
  visitor: ConfirmingVisitor,
): Promise<Confirmation | undefined> {
  const before = await findConfirmation(db, token);
  if (before?.status !== 'PENDING') return before;
  const context = JSON.stringify({ ...visitor, emailId: token.emailId, confirmed: true });
  await retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      await apply(trx, [before.projectId, before.id, topicIds ?? null, context]);
      faultPoint('confirm-before-commit');
    }),
  );
  return findConfirmation(db, token);
}

const declineOne = statement<Outcome>(
  'confirmation-decline',
  'select status, contact_id from decline_submission($1, $2, $3::jsonb)',
);

/** Declines, unless it is confirmed. */
export async function decline(
  db: Db,
  token: ConfirmationToken,
  visitor: ConfirmingVisitor,
): Promise<Confirmation | undefined> {
  const before = await findConfirmation(db, token);
  if (!before) return undefined;
  const context = JSON.stringify({ ...visitor, emailId: token.emailId });
  await retryDeadlocks(db, () => inTransaction(db, (trx) => declineOne(trx, [before.projectId, before.id, context])));
  return findConfirmation(db, token);
}

const setSent = statement(
  'submission-sent-again',
  `update form_submissions set status = 'PENDING', last_sent_at = now(), last_email_id = $3, settled_at = null,
     expires_at = case when $6 then now() + make_interval(secs => $5::float8 * 3600) else expires_at end,
     reminded_at = case when $6 then null else reminded_at end,
     due_at = case when $6 then now() + make_interval(secs => coalesce($4::float8, $5::float8) * 3600) else due_at end
   where project_id = $1 and id = $2`,
);
const HOUR_MS = 3_600_000;

export type SentAgain = 'sent' | 'gone' | 'too often';

/**
 * Sends the confirmation again, at most once an hour and within the limit of the address: of one that waits, and, from the
 * page of an expired link, of one that has expired.
 */
export async function sendAgain(
  db: Db,
  { projectId, id }: { projectId: string; id: string },
  from: SubmissionStatus[],
  settings: Pick<Settings, 'forms'>,
): Promise<SentAgain> {
  return retryDeadlocks(db, () =>
    inTransaction(db, async (trx) => {
      const submission = await lockSubmission(trx, projectId, id);
      if (!submission || submission.email === null) return 'gone';
      const { email, lastSentAt, expiresAt } = submission;
      // The timer may be late.
      const isOver = submission.status === 'PENDING' && expiresAt !== null && expiresAt.getTime() <= Date.now();
      const status = isOver ? 'EXPIRED' : submission.status;
      // A choice that has expired is asked for anew by a new choice.
      if (!from.includes(status) || (submission.formId === null && status === 'EXPIRED')) return 'gone';
      await lockAddress(trx, email);
      if (lastSentAt && Date.now() - lastSentAt.getTime() < HOUR_MS) return 'too often';
      if (await nextConfirmation(trx, email, settings.forms.confirmationsPerAddressPerDay)) return 'too often';
      const request = confirmationOf({ ...submission, email }, await topicsOf(trx, submission), 'confirm');
      const emailId = await writeConfirmation(trx, request);
      if (!emailId) return 'gone';
      await countConfirmation(trx, email);
      const { reminderAfterHours, expiresAfterHours } = request;
      await setSent(trx, [projectId, id, emailId, reminderAfterHours, expiresAfterHours, status === 'EXPIRED']);
      return 'sent';
    }),
  );
}
