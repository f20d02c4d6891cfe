import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Settlement } from './delivery-settlement.ts';

/** One offer of a mail to the SMTP relay, and its outcome. */
export interface DeliveryAttempt {
  number: number;
  startedAt: Date;
  endedAt: Date;
  outcome: 'sent' | 'deferred' | 'refused' | 'unknown';
  /** The reply of the relay, if there was one. */
  answer: string | null;
}

/** Returns null when the mail was not offered, so there was no attempt. */
export function attemptOutcome({
  status,
  attemptNotCounted,
  unknown,
  gaveUp,
}: Settlement): DeliveryAttempt['outcome'] | null {
  if (attemptNotCounted) return null;
  if (unknown) return 'unknown';
  if (status === 'SENT') return 'sent';
  return status === 'FAILED' && !gaveUp ? 'refused' : 'deferred';
}

interface AttemptRow {
  number: number;
  started_at: Date;
  ended_at: Date;
  outcome: DeliveryAttempt['outcome'];
  answer: string | null;
}

const readAttempts = statement<AttemptRow>(
  'email-attempts',
  'select number, started_at, ended_at, outcome, answer from email_attempts where email_id = $1 order by number',
);

/** Returns the attempts of a mail in order. */
export async function listDeliveryAttempts(db: Db, emailId: string): Promise<DeliveryAttempt[]> {
  const rows = await readAttempts(db, [emailId]);
  return rows.map(({ number, started_at, ended_at, outcome, answer }) => ({
    number,
    startedAt: started_at,
    endedAt: ended_at,
    outcome,
    answer,
  }));
}
