import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

export const WINDOW_SECONDS = 60;

/** Payload: the id of a project whose limit is reached. Every process then hands back what it has not spent. */
export const RATE_CHANNEL = 'everpost_rate';

export interface LeaseRequest {
  projectId: string;
  limit: number;
  /** Requests that wait for a token just now; what they get counts as spent. */
  waiting: number;
  /** At most so many more, for requests to come. */
  spareAtMost: number;
  /** The window that `spent` was spent in, by the number that an earlier lease gave. */
  window: string;
  spent: number;
}

/** `bigint` and intervals come as text and as a number of milliseconds. */
export interface Lease {
  window: string;
  /** To this request. */
  grant: number;
  /** To all processes together. */
  granted: number;
  settled: number;
  msLeft: number;
}

// One upsert by the database's clock: a window that is over is replaced by the one this request opens. A tenth of what
// is left is given in advance, so that far from the limit few requests ask, and near it each one does.
const lease = statement<Lease>(
  'rate_lease',
  `
  insert into rate_windows as w (project_id, granted, settled, last_grant)
  select $1, grant_new, least($3::int, grant_new), grant_new
    from (select least($2::int, $3::int + least($4::int, greatest(0, ($2::int - $3::int) / 10)))) as first (grant_new)
  on conflict (project_id) do update set
    (number, opened_at, granted, settled, tight, last_grant) = (
      select
        case when over then w.number + 1 else w.number end,
        case when over then now() else w.opened_at end,
        before + grant_now,
        known + least($3::int, grant_now),
        not over and (w.tight or (before + $3::int > $2::int and known < before)),
        grant_now
      from (select now() >= w.opened_at + interval '${WINDOW_SECONDS} seconds') as age (over),
        lateral (select
          case when over then 0 else w.granted end,
          case when over then 0 when w.number = $5::bigint then w.settled + $6::int else w.settled end
        ) as past (before, known),
        lateral (select least(
          greatest(0, $2::int - before),
          $3::int + case when w.tight and not over then 0
            else least($4::int, greatest(0, ($2::int - before - $3::int) / 10)) end
        )) as present (grant_now)
    )
  returning number::text as window, last_grant as "grant", granted, settled,
    (extract(epoch from opened_at + interval '${WINDOW_SECONDS} seconds' - now()) * 1000)::float8 as "msLeft"
  `,
);

export async function leaseTokens(db: Db, request: LeaseRequest): Promise<Lease> {
  const { projectId, limit, waiting, spareAtMost, window, spent } = request;
  const [row] = await lease(db, [projectId, limit, waiting, spareAtMost, window, spent]);
  if (!row) throw new Error('the rate limit statement returned no row');
  return row;
}

const settle = statement(
  'rate_settle',
  `update rate_windows set granted = granted - $3::int, settled = settled + $4::int
    where project_id = $1 and number = $2::bigint`,
);

/** Hands back what was not spent and tells what was. */
export async function settleTokens(
  db: Db,
  { projectId, window, unspent, spent }: { projectId: string; window: string; unspent: number; spent: number },
): Promise<void> {
  await settle(db, [projectId, window, unspent, spent]);
}

export async function askToSettle(db: Db, projectId: string): Promise<void> {
  await db.raw('select pg_notify(?, ?)', [RATE_CHANNEL, projectId]);
}
