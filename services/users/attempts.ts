import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import { hashToken } from '../../platform/secrets.ts';

export const WINDOW_MINUTES = 15;
const PER_ADDRESS = 5;
const PER_IP = 50;

interface Count {
  key: Buffer;
  count: number;
  seconds_left: number;
}

// Sorted, so that two who count the same keys never wait for each other.
const charge = statement<Count>(
  'attempts-charge',
  `insert into auth_attempts as a (key, count) select key, 1 from unnest($1::bytea[]) as given (key) order by key
   on conflict (key) do update set
     count = case when a.opened_at < now() - interval '${WINDOW_MINUTES} minutes' then 1 else a.count + 1 end,
     opened_at = case when a.opened_at < now() - interval '${WINDOW_MINUTES} minutes' then now() else a.opened_at end
   returning key, count,
     ceil(extract(epoch from opened_at + interval '${WINDOW_MINUTES} minutes' - now()))::integer as seconds_left`,
);

// A success is no attempt that failed, and it forgives those at the same address.
const forgive = statement('attempts-forgive', 'delete from auth_attempts where key = $1');
const refund = statement('attempts-refund', 'update auth_attempts set count = count - 1 where key = $1 and count > 0');

const addressKey = (kind: string, email: string) => hashToken(`${kind} address ${email}`);
const ipKey = (kind: string, ip: string) => hashToken(`${kind} ip ${ip}`);

/** Each is counted by itself: who may not ask for mail any more may still log in. */
export type AttemptKind = 'login' | 'signup' | 'VERIFY_EMAIL' | 'RESET_PASSWORD';

export interface Attempt {
  kind: AttemptKind;
  email: string;
  ip: string;
}

/**
 * Counts an attempt as failed before it is looked at, so that of many that come at once, to any process, no more than
 * so many are looked at; `succeed` takes it back.
 */
export async function beginAttempt(db: Db, { kind, email, ip }: Attempt): Promise<{ succeed(): Promise<void> }> {
  const [address, caller] = [addressKey(kind, email), ipKey(kind, ip)];
  const counts = await charge(db, [[address, caller]]);
  const limitOf = ({ key }: Count) => (key.equals(address) ? PER_ADDRESS : PER_IP);
  const over = counts.filter((one) => one.count > limitOf(one));
  if (over.length > 0) throw tooMany(Math.max(...over.map(({ seconds_left: seconds }) => seconds), 1));
  return {
    async succeed() {
      await forgive(db, [address]);
      await refund(db, [caller]);
    },
  };
}

const MAILS_PER_ADDRESS = 5;

/** Whether another mail to this address may be asked for just now: nobody's mailbox shall be filled through us. */
export async function mayAskForMail(db: Db, email: string): Promise<boolean> {
  const [row] = await charge(db, [[addressKey('mail', email)]]);
  return row !== undefined && row.count <= MAILS_PER_ADDRESS;
}

const tooMany = (seconds: number) =>
  new ApiError(429, 'RATE_LIMIT_EXCEEDED', 'Too many attempts.', {
    suggestion: `Try again in ${Math.ceil(seconds / 60)} minutes.`,
    headers: { 'Retry-After': String(seconds) },
  });

/** Gives back how many rows of the past it removed. */
export async function sweepAccounts(db: Db): Promise<number> {
  const ended = await db('sessions').where('expiresAt', '<', db.fn.now()).del();
  const expired = await db('userTokens').where('expiresAt', '<', db.fn.now()).del();
  const over = await db('authAttempts').whereRaw(`opened_at < now() - interval '${WINDOW_MINUTES} minutes'`).del();
  return ended + expired + over;
}
