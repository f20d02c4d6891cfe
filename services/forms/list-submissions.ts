import type { Db } from '../../db/connect.ts';
import { sql } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { ApiError, notFound } from '../../platform/errors.ts';
import { isUuid } from '../../platform/ids.ts';
import type { Settings } from '../../platform/settings.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireOpenProject } from '../access/open-project.ts';
import { type CursorPage, countList, cutPage, UNCOUNTED } from '../paging.ts';
import { tooMany } from '../throttle/count.ts';
import { sendAgain } from './confirm.ts';
import { findForm } from './find.ts';
import type { RefusalReason, SubmissionStatus } from './submissions.ts';

/** A submission as the API shows it. */
export interface ListedSubmission {
  id: string;
  status: SubmissionStatus;
  reason: RefusalReason | null;
  email: string | null;
  ip: string | null;
  pageUrl: string | null;
  createdAt: Date;
  sentAt: Date | null;
  remindedAt: Date | null;
  confirmedAt: Date | null;
  contactId: string | null;
}

interface SubmissionsQuery {
  status?: SubmissionStatus | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** Returns the newest first. */
export async function listSubmissions(
  db: Db,
  projectId: string,
  formId: string,
  keys: SigningKeys,
  { status, limit, cursor }: SubmissionsQuery,
): Promise<CursorPage<ListedSubmission>> {
  const { id } = await findForm(db, projectId, formId);
  const boundTo = [projectId, 'submissions', id, status ?? ''];
  const filter = sql`s.project_id = ${projectId}::uuid and s.form_id = ${id}::uuid
    ${status ? sql`and s.status = ${status}` : sql``}`;
  const after = cursor === undefined ? sql`` : sql`and s.id < ${openCursor(keys, boundTo, cursor)}::uuid`;
  const [rows, total] = await Promise.all([
    queryRows<ListedSubmission>(
      db,
      sql`select s.id, s.status, s.reason, s.email, s.context ->> 'ip' as ip, s.page_url, s.created_at, s.sent_at,
            s.reminded_at, s.confirmed_at, s.contact_id
          from form_submissions s where ${filter} ${after} order by s.id desc limit ${limit + 1}`,
    ),
    cursor === undefined ? countList(db, sql`select 1 from form_submissions s where ${filter}`) : UNCOUNTED,
  ]);
  return cutPage(rows, { limit, ...total, cursorAfter: ({ id: last }) => signCursor(keys, boundTo, last) });
}

const findStatus = statement<{ status: SubmissionStatus }>(
  'submission-status',
  'select status from form_submissions where project_id = $1 and form_id = $2 and id = $3',
);

const HOUR_SECONDS = 3_600;

/** Sends the confirmation of a PENDING submission again, once an hour. */
export async function resendConfirmation(
  db: Db,
  project: ProjectAccess,
  formId: string,
  submissionId: string,
  settings: Pick<Settings, 'forms'>,
): Promise<SubmissionStatus> {
  const { projectId } = project;
  const form = await findForm(db, projectId, formId);
  await requireOpenProject(db, project);
  const [found] = isUuid(submissionId) ? await findStatus(db, [projectId, form.id, submissionId]) : [];
  if (!found) throw notFound('submission');
  const sent = await sendAgain(db, { projectId, id: submissionId }, ['PENDING'], settings);
  if (sent === 'too often') throw tooMany(HOUR_SECONDS, 'The confirmation was sent a short time ago.');
  if (sent === 'gone')
    throw new ApiError(409, 'CONFLICT', `The submission is ${found.status}; only a PENDING one is sent again.`);
  return 'PENDING';
}
