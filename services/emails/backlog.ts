import type { Db } from '../../db/connect.ts';

export interface MailBacklog {
  /** Due and not sent, whether in a batch or not. */
  due: number;
  /** Age in seconds of the mail that has been due for longest. */
  oldest: number;
  /** Not due yet: put off by a server, or held. */
  later: number;
  sending: number;
  batches: number;
}

/** How much mail waits; only what is not finished is looked at. */
export async function mailBacklog(db: Db): Promise<MailBacklog> {
  const { rows } = await db.raw(`
    select count(*) filter (where status = 'PENDING' and due_at <= now())::integer as due,
      coalesce(extract(epoch from now() - min(due_at) filter (where status = 'PENDING')), 0)::float8 as oldest,
      count(*) filter (where status = 'PENDING' and due_at > now())::integer as later,
      count(*) filter (where status = 'SENDING')::integer as sending,
      (select count(*)::integer from delivery_batches) as batches
    from (
      select status, due_at from emails where status = 'PENDING' and batch_id is null
      union all
      select status, due_at from emails where status in ('PENDING', 'SENDING') and batch_id is not null
    ) unfinished`);
  const [{ oldest, ...counts }] = rows;
  return { ...counts, oldest: Math.max(0, oldest) };
}
