import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

export interface MailBacklog {
  /** Due and not sent, whether in a batch or not. */
  due: number;
  /** Age in seconds of the mail that has been due for longest. */
  oldest: number;
  /** Not due yet: deferred or blocked. */
  later: number;
  sending: number;
  batches: number;
}

const count = statement<MailBacklog>(
  'mail-backlog',
  `select count(*) filter (where status = 'PENDING' and due_at <= now())::integer as due,
      coalesce(extract(epoch from now() - min(due_at) filter (where status = 'PENDING')), 0)::float8 as oldest,
      count(*) filter (where status = 'PENDING' and due_at > now())::integer as later,
      count(*) filter (where status = 'SENDING')::integer as sending,
      (select count(*)::integer from delivery_batches where campaign_id is null) as batches
    from (
      select status, due_at from emails where status = 'PENDING' and batch_id is null and priority < 2
      union all
      select e.status, e.due_at
      from delivery_batches b
      join emails e on e.batch_id = b.id and e.status in ('PENDING', 'SENDING')
      where b.campaign_id is null
    ) unfinished`,
);

/** Counts waiting mail. Reads unfinished rows only, and no campaign mail, which campaigns count themselves. */
export async function mailBacklog(db: Db): Promise<MailBacklog> {
  const [counts = { due: 0, oldest: 0, later: 0, sending: 0, batches: 0 }] = await count(db, []);
  return { ...counts, oldest: Math.max(0, counts.oldest) };
}
