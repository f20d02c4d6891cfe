import type { Db } from '../../db/connect.ts';
import { notify } from '../../db/notify.ts';
import { statement } from '../../db/statement.ts';

export const WINDOW_SECONDS = 60;

/** Payload: the id of a project whose limit is reached. Every process then returns its unspent tokens. */
export const RATE_CHANNEL = 'everpost_rate';

/** Public and secret keys share a bucket; sessions have another, in which they count as the secret key does. */
export type Bucket = 'keys' | 'sessions';

/** One number for the public key and one for the secret key. */
export interface PerKey {
  public: number;
  secret: number;
}

export interface LeaseRequest {
  bucket: Bucket;
  projectId: string;
  /** The public key is refused after this many calls of all keys, the secret key after this many of the secret key. */
  limit: number;
  /** The secret key is refused after this many calls of all keys. */
  ceiling: number;
  /** Requests that wait for a token; what they get counts as spent. */
  waiting: PerKey;
  /** The most tokens to lease in advance. */
  spareAtMost: number;
  /** The window in which `spent` was spent, by the number from an earlier lease. */
  window: string;
  spent: PerKey;
  /** Counts unreported public tokens as spent: the process that leased them does not answer. */
  writeOffPublic: boolean;
}

/** `window` is a bigint as text, `msLeft` an interval in milliseconds. */
export interface RateLimitLease {
  window: string;
  /** Granted to this request. */
  grant: PerKey;
  /** Granted to all processes, for all keys and for the secret key alone. */
  granted: number;
  secretGranted: number;
  /** Of those, known to be spent. */
  settled: number;
  secretSettled: number;
  msLeft: number;
}

interface LeaseRow extends Omit<RateLimitLease, 'grant'> {
  publicGrant: number;
  secretGrant: number;
}

export interface TokenReturn {
  bucket: Bucket;
  projectId: string;
  window: string;
  unspent: PerKey;
  spent: PerKey;
}

// One upsert by the database's clock; an expired window is replaced. The function rate_grants decides how much is
// granted. `least` guards against rows that API processes of an earlier version renewed during an upgrade without
// resetting the columns of the secret key.
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
        past_public + past_secret + public_grant + secret_grant,
        past_secret + secret_grant,
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
        ) as past (past_public, past_secret),
        lateral (select
          case when over then 0 when $10::boolean then past_public
            else least(past_public, greatest(0, w.settled - w.secret_settled) + case when same then $8::int else 0 end) end,
          case when over then 0
            else least(past_secret, w.secret_settled + case when same then $9::int else 0 end) end
        ) as reported (known, known_secret),
        lateral rate_grants($2::int, $3::int, past_public + past_secret, past_secret, known + known_secret, known_secret,
          w.tight and not over, w.secret_tight and not over, $4::int, $5::int, $6::int)
    )
  returning number::text as window, last_grant as public_grant, last_secret_grant as secret_grant, granted, secret_granted,
    settled, secret_settled,
    (extract(epoch from opened_at + interval '${WINDOW_SECONDS} seconds' - now()) * 1000)::float8 as ms_left
  `,
  );

const returnIn = (table: string) =>
  statement(
    `${table}_return`,
    `update ${table} set
        granted = granted - $3::int - $4::int,
        secret_granted = secret_granted - $4::int,
        settled = least(granted - $3::int - $4::int, settled + $5::int + $6::int),
        secret_settled = least(secret_granted - $4::int, secret_settled + $6::int)
      where project_id = $1 and number = $2::bigint`,
  );

const lease = { keys: leaseIn('rate_windows'), sessions: leaseIn('session_rate_windows') };
const giveBack = { keys: returnIn('rate_windows'), sessions: returnIn('session_rate_windows') };

export async function leaseTokens(db: Db, request: LeaseRequest): Promise<RateLimitLease> {
  const { bucket, projectId, limit, ceiling, waiting, spareAtMost, window, spent, writeOffPublic } = request;
  const [row] = await lease[bucket](db, [
    projectId,
    limit,
    ceiling,
    waiting.public,
    waiting.secret,
    spareAtMost,
    window,
    spent.public,
    spent.secret,
    writeOffPublic,
  ]);
  if (!row) throw new Error('the rate limit statement returned no row');
  const { publicGrant, secretGrant, ...rest } = row;
  return { ...rest, grant: { public: publicGrant, secret: secretGrant } };
}

/** Returns unspent tokens and reports spent ones. */
export async function returnTokens(db: Db, { bucket, projectId, window, unspent, spent }: TokenReturn): Promise<void> {
  await giveBack[bucket](db, [projectId, window, unspent.public, unspent.secret, spent.public, spent.secret]);
}

export async function requestReturns(db: Db, projectId: string): Promise<void> {
  await notify(db, RATE_CHANNEL, projectId);
}
