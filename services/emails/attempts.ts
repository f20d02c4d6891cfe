import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

/** The change of the ledger row by an attempt. Stored as JSON in `outgoing_mails.result` until it is persisted. */
export interface AttemptResult {
  status: 'SENT' | 'FAILED' | 'PENDING' | 'UNKNOWN';
  reason: string | null;
  /** As recorded in the attempt log; null when the mail was not offered, so that no attempt counts. */
  outcome: LoggedAttempt['outcome'] | null;
  /** The mail is due after this many seconds. Without it the mail is due at once. */
  retryAfterSeconds?: number;
  providerMessageId?: string;
  /** The recipient does not exist: a hard bounce. */
  isBounce?: true;
  /** The reply of the relay, where it is not the reason. */
  answer?: string;
}

/** One offer of a mail to an SMTP relay, as `emails.attempt_log` has it. */
export interface LoggedAttempt {
  number: number;
  startedAt: string;
  endedAt: string;
  relay: string | null;
  outcome: 'sent' | 'deferred' | 'refused' | 'unknown';
  /** The reply of the relay, if there was one. */
  answer: string | null;
}

const readLog = statement<{ attemptLog: LoggedAttempt[] | null }>(
  'email-attempt-log',
  'select attempt_log from emails where id = $2 and project_id = $1',
);

/** Returns the attempts of a mail in order. */
export async function attemptLogOf(db: Db, projectId: string, emailId: string): Promise<LoggedAttempt[]> {
  const [row] = await readLog(db, [projectId, emailId]);
  return (row?.attemptLog ?? []).map(({ startedAt, endedAt, ...attempt }) => ({
    ...attempt,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
  }));
}
