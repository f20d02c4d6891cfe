import type { Db } from '../../db/connect.ts';

export interface MailBacklog {
  /** Due and not sent. */
  due: number;
  /** Age in seconds of the mail that has been due for longest. */
  oldest: number;
  /** Not due yet: deferred, postponed or blocked. */
  later: number;
  /** In flight. */
  sending: number;
  /** Leased by a sender and not in flight. */
  leased: number;
}

/** Counts waiting mail. Reads unfinished rows only, and no campaign mail, which campaigns count themselves. */
export async function mailBacklog(db: Db): Promise<MailBacklog> {
  const { rows } = await db.raw(`
    select count(*) filter (where due_at <= now())::integer as due,
      coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as oldest,
      count(*) filter (where due_at > now())::integer as later,
      (select count(*)::integer from outgoing_mails where started_at is not null and ended_at is null) as sending,
      (select count(*)::integer from outgoing_mails where started_at is null) as leased
    from emails where status = 'PENDING' and campaign_id is null`);
  const [{ oldest, ...counts }] = rows;
  return { ...counts, oldest: Math.max(0, oldest) };
}
