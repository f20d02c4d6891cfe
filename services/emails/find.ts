import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { notFound } from '../../platform/errors.ts';
import { attemptLogOf, type LoggedAttempt } from './attempts.ts';
import { CONTENT, type EmailRecord, type EmailRow, recordOf, SHOWN } from './email-record.ts';

const findOne = statement<EmailRow>(
  'email-find',
  `select ${SHOWN} from emails e ${CONTENT}
   where e.id = $2 and e.project_id = $1`,
);

export async function findEmail(db: Db, projectId: string, id: string): Promise<EmailRecord> {
  const [row] = await findOne(db, [projectId, id]);
  if (!row) throw notFound('email');
  return recordOf(row);
}

/** A mail with its attempts. */
export interface EmailWithAttempts extends EmailRecord {
  attemptLog: LoggedAttempt[];
}

export async function findEmailWithAttempts(db: Db, projectId: string, id: string): Promise<EmailWithAttempts> {
  const email = await findEmail(db, projectId, id);
  return { ...email, attemptLog: await attemptLogOf(db, projectId, email.id) };
}
