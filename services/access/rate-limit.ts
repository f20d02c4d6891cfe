import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

export const WINDOW_SECONDS = 60;

/** Payload: the id of a project whose limit is reached. Every process then hands back what it has not spent. */
export const RATE_CHANNEL = 'everpost_rate';

/** Public and secret keys share a bucket; sessions have their own, in which they count as the secret key does. */
export type Bucket = 'keys' | 'sessions';

/** One number for the public key and one for the secret key. */
export interface PerKey {
  public: number;
  secret: number;
}

export interface LeaseRequest {
  bucket: Bucket;
  projectId: string;
  /** Calls of all keys after which the public key is refused, and calls of the secret key after which that is. */
  limit: number;
  /** Calls of all keys after which the secret key is refused too. */
  ceiling: number;
  /** Requests that wait for a token just now; what they get counts as spent. */
  waiting: PerKey;
  /** At most so many more, for requests to come. */
  spareAtMost: number;
  /** The window that `spent` was spent in, by the number that an earlier lease gave. */
  window: string;
  spent: PerKey;
  /** Counts public tokens that no process has reported as spent: their holder does not answer. */
  writeOffPublic: boolean;
}

/** `bigint` and intervals come as text and as a number of milliseconds. */
export interface Lease {
  window: string;
  /** To this request. */
  grant: PerKey;
  /** To all processes together, for all keys and for the secret key alone. */
  granted: number;
  secretGranted: number;
  /** Of those: known to be spent. */
  settled: number;
  secretSettled: number;
  msLeft: number;
}

interface LeaseRow extends Omit<Lease, 'grant'> {
  publicGrant: number;
  secretGrant: number;
}

export interface Settlement {
  bucket: Bucket;
  projectId: string;
  window: string;
  unspent: PerKey;
  spent: PerKey;
}

// One upsert by the database's clock: a window that is over is replaced by the one this request opens. How much is
// granted is decided by the function rate_grants. `least` guards against rows that API processes of an earlier version
// have renewed during an upgrade, without resetting the columns of the secret key.
const leaseIn = (table: string) =>
  statement<LeaseRow>(
    `${table}_lease`,
    `
  insert into ${table} as w (project_id, granted, secret_granted, settled, secret_settled, tight, secret_tight,
    last_grant, last_secret_grant)
  select $1, public_grant + secret_grant, secret_grant,
      least($4::int, public_grant) + least($5::int, secret_grant), least($5::int, secret_grant),
      now_tight, now_secret_tight, public_grant, secret_grant
    from rate_grants($2::int, $3::int, 0, 0, 0, 0, false, false, $4::int, $5::int, $6::int)
  on conflict (project_id) do update set
    (number, opened_at, granted, secret_granted, settled, secret_settled, tight, secret_tight,
      last_grant, last_secret_grant) = (
      select
        case when over then w.number + 1 else w.number end,
        case when over then now() else w.opened_at end,
        given + given_secret + public_grant + secret_grant,
        given_secret + secret_grant,
        known + known_secret + least($4::int, public_grant) + least($5::int, secret_grant),
        known_secret + least($5::int, secret_grant),
        now_tight,
        now_secret_tight,
        public_grant,
        secret_grant
      from (select now() >= w.opened_at + interval '${WINDOW_SECONDS} seconds', w.number = $7::bigint) as age (over, same),
        lateral (select
          case when over then 0 else w.granted - least(w.secret_granted, w.granted) end,
          case when over then 0 else least(w.secret_granted, w.granted) end
        ) as past (given, given_secret),
        lateral (select
          case when over then 0 when $10::boolean then given
            else least(given, greatest(0, w.settled - w.secret_settled) + case when same then $8::int else 0 end) end,
          case when over then 0
            else least(given_secret, w.secret_settled + case when same then $9::int else 0 end) end
        ) as reported (known, known_secret),
        lateral rate_grants($2::int, $3::int, given + given_secret, given_secret, known + known_secret, known_secret,
          w.tight and not over, w.secret_tight and not over, $4::int, $5::int, $6::int)
    )
  returning number::text as window, last_grant as "publicGrant", last_secret_grant as "secretGrant",
    granted, secret_granted as "secretGranted", settled, secret_settled as "secretSettled",
    (extract(epoch from opened_at + interval '${WINDOW_SECONDS} seconds' - now()) * 1000)::float8 as "msLeft"
  `,
  );

const settleIn = (table: string) =>
  statement(
    `${table}_settle`,
    `update ${table} set
        granted = granted - $3::int - $4::int,
        secret_granted = secret_granted - $4::int,
        settled = least(granted - $3::int - $4::int, settled + $5::int + $6::int),
        secret_settled = least(secret_granted - $4::int, secret_settled + $6::int)
      where project_id = $1 and number = $2::bigint`,
  );

const lease = { keys: leaseIn('rate_windows'), sessions: leaseIn('session_rate_windows') };
const settle = { keys: settleIn('rate_windows'), sessions: settleIn('session_rate_windows') };

export async function leaseTokens(db: Db, request: LeaseRequest): Promise<Lease> {
  const { bucket, projectId, limit, ceiling, waiting, spareAtMost, window, spent, writeOffPublic } = request;
  const [row] = await lease[bucket](db, [
    ...[projectId, limit, ceiling, waiting.public, waiting.secret, spareAtMost],
    ...[window, spent.public, spent.secret, writeOffPublic],
  ]);
  if (!row) throw new Error('the rate limit statement returned no row');
  const { publicGrant, secretGrant, ...rest } = row;
  return { ...rest, grant: { public: publicGrant, secret: secretGrant } };
}

/** Hands back what was not spent and reports what was. */
export async function settleTokens(db: Db, { bucket, projectId, window, unspent, spent }: Settlement): Promise<void> {
  await settle[bucket](db, [projectId, window, unspent.public, unspent.secret, spent.public, spent.secret]);
}

export async function askToSettle(db: Db, projectId: string): Promise<void> {
  await db.raw('select pg_notify(?, ?)', [RATE_CHANNEL, projectId]);
}
