import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Settlement } from './delivery-settlement.ts';

/** How one offer of a mail to the relay ended. */
export interface Attempt {
  number: number;
  startedAt: Date;
  endedAt: Date;
  outcome: 'sent' | 'deferred' | 'refused' | 'unknown';
  /** In the relay's own words, where it said any. */
  answer: string | null;
}

/** Null: the mail was not even offered, so there was no attempt. */
export function attemptOutcome({ status, unburnt, unknown, gaveUp }: Settlement): Attempt['outcome'] | null {
  if (unburnt) return null;
  if (unknown) return 'unknown';
  if (status === 'SENT') return 'sent';
  return status === 'FAILED' && !gaveUp ? 'refused' : 'deferred';
}

interface AttemptRow {
  number: number;
  started_at: Date;
  ended_at: Date;
  outcome: Attempt['outcome'];
  answer: string | null;
}

const ofMail = statement<AttemptRow>(
  'email-attempts',
  'select number, started_at, ended_at, outcome, answer from email_attempts where email_id = $1 order by number',
);

/** The first one first. */
export async function attemptsOf(db: Db, emailId: string): Promise<Attempt[]> {
  const rows = await ofMail(db, [emailId]);
  return rows.map(({ number, started_at, ended_at, outcome, answer }) => ({
    number,
    startedAt: started_at,
    endedAt: ended_at,
    outcome,
    answer,
  }));
}
