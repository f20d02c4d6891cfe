import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { clientNetwork } from '../../platform/http/client-network.ts';
import { countUse, type Limit, resetUses, sweepCounters, tooMany, undoUse } from '../throttle/count.ts';

const WINDOW_MINUTES = 15;
const PER_ADDRESS = 5;
const PER_IP = 50;

/** Counted separately: a client that may not request mail may still log in. */
export type AttemptKind = 'login' | 'signup' | 'code' | 'VERIFY_EMAIL' | 'RESET_PASSWORD';

export interface AuthAttempt {
  kind: AttemptKind;
  email: string;
  ip: string;
}

/** An attempt that counts as failed until it is known to be none. */
export interface CountedAttempt {
  /** Takes it back, and clears earlier failures of the address. */
  succeed(): Promise<void>;
  /** Takes it back: it neither failed nor succeeded. */
  undo(): Promise<void>;
}

/**
 * Counts an attempt as failed before it is checked, so that concurrent attempts in all processes stay within the limit.
 */
export async function beginAttempt(db: Db, { kind, email, ip }: AuthAttempt): Promise<CountedAttempt> {
  const address: Limit = { name: `${kind} address ${email}`, max: PER_ADDRESS, minutes: WINDOW_MINUTES };
  const network: Limit = { name: `${kind} ip ${clientNetwork(ip)}`, max: PER_IP, minutes: WINDOW_MINUTES };
  const wait = await countUse(db, [address, network]);
  if (wait > 0) throw tooMany(wait);
  return {
    async succeed() {
      await resetUses(db, [address]);
      await undoUse(db, [network]);
    },
    undo: () => undoUse(db, [address, network]),
  };
}

const turns = new Map<string, Promise<unknown>>();

/**
 * Lets log-ins of one address pass one after the other in this process. Side by side they would count as failed while they
 * are checked, and the sixth correct one would be refused.
 */
export async function inTurn<T>(email: string, logIn: () => Promise<T>): Promise<T> {
  const turn = (turns.get(email) ?? Promise.resolve()).then(logIn, logIn);
  turns.set(email, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(email) === turn) turns.delete(email);
  }
}

/**
 * Wrong codes of one account in a day, wherever they are given. Three of a million codes are valid at a time, so guessing
 * at this rate succeeds in about one of thirty years.
 */
const CODES_PER_DAY = 30;

/** Counts a code of the authenticator, or a recovery code, as wrong before it is checked. */
export async function beginCode(db: Db, userId: string): Promise<Pick<CountedAttempt, 'succeed'>> {
  const limits: Limit[] = [{ name: `code account ${userId}`, max: CODES_PER_DAY, minutes: 24 * 60 }];
  const wait = await countUse(db, limits);
  if (wait > 0) throw tooMany(wait, 'Too many wrong codes within a day.');
  return { succeed: () => resetUses(db, limits) };
}

/** Counts an account being opened. `undo` takes it back when opening fails. */
export async function countSignup(
  db: Db,
  { signupsPerIpPerHour }: { signupsPerIpPerHour: number },
  ip: string,
): Promise<{ undo(): Promise<void> }> {
  if (signupsPerIpPerHour === 0) return { undo: async () => {} };
  const limits: Limit[] = [{ name: `signups ip ${clientNetwork(ip)}`, max: signupsPerIpPerHour, minutes: 60 }];
  const wait = await countUse(db, limits);
  const undo = () => undoUse(db, limits);
  if (wait > 0) {
    await undo();
    throw tooMany(wait, 'Too many accounts were created from this IP address.');
  }
  return { undo };
}

const MAILS_PER_ADDRESS = 5;
const MAILS_PER_ADDRESS_AND_DAY = 20;

/**
 * Returns whether another mail to this address may be requested now, so that mailboxes cannot be flooded through us.
 */
export async function mayRequestMail(db: Db, email: string): Promise<boolean> {
  const limits: Limit[] = [
    { name: `mail address ${email}`, max: MAILS_PER_ADDRESS, minutes: WINDOW_MINUTES },
    { name: `mail address day ${email}`, max: MAILS_PER_ADDRESS_AND_DAY, minutes: 24 * 60 },
  ];
  if ((await countUse(db, limits)) === 0) return true;
  await undoUse(db, limits);
  return false;
}

const removeSessions = statement('sessions-remove-expired', 'delete from sessions where expires_at < now()');
const removeTokens = statement('tokens-remove-expired', 'delete from user_tokens where expires_at < now()');

/** Deletes expired sessions, tokens and counters. Returns how many. */
export async function sweepAccounts(db: Db): Promise<number> {
  const ended = await removeSessions.count(db);
  const expired = await removeTokens.count(db);
  return ended + expired + (await sweepCounters(db));
}
