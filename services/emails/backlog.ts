import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

export interface MailBacklog {
  /** Due and not sent. */
  due: number;
  /** Age in seconds of the mail that has been due for longest. */
  oldest: number;
  /** Not due yet: deferred, slowed or blocked. */
  later: number;
  /** In flight. */
  sending: number;
  /** Leased by a sender and not in flight. */
  leased: number;
}

const count = statement<MailBacklog>(
  'mail-backlog',
  `select count(*) filter (where due_at <= now())::integer as due,
     coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as oldest,
     count(*) filter (where due_at > now())::integer as later,
     (select count(*)::integer from outgoing_mails where started_at is not null and ended_at is null) as sending,
     (select count(*)::integer from outgoing_mails where started_at is null) as leased
   from emails where status = 'PENDING' and campaign_id is null`,
);

/** Counts waiting mail. Reads unfinished rows only, and no campaign mail, which campaigns count themselves. */
export async function mailBacklog(db: Db): Promise<MailBacklog> {
  const [counts = { due: 0, oldest: 0, later: 0, sending: 0, leased: 0 }] = await count(db, []);
  return { ...counts, oldest: Math.max(0, counts.oldest) };
}
