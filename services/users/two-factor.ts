import { randomInt } from 'node:crypto';
import { type Db, inTransaction } from '../../db/connect.ts';
import { User, UserRecoveryCode } from '../../db/models/user.ts';
import { seal, unseal } from '../../platform/crypto/seal.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { newTotpSecret, totpStepOf, totpUri } from '../../platform/crypto/totp.ts';
import { ApiError, badRequest } from '../../platform/errors.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { type CurrentSession, endSessions } from '../sessions/sessions.ts';
import { beginAttempt, beginCode } from './attempts.ts';

const ISSUER = 'Everpost';
const RECOVERY_CODES = 10;
const RECOVERY_CODE_LENGTH = 16;
/** Base32 without letters that look like digits: 80 bits a code, so that its hash needs no salt. */
const RECOVERY_ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Where a secret belongs, for its seal. */
export const totpContext = (userId: string): string[] => ['totp', userId];

/** The account has two-factor authentication, and no code was given. */
export class CodeRequired extends ApiError {
  constructor() {
    super(401, 'INVALID_CREDENTIALS', 'This account has two-factor authentication: a code is required.', {
      suggestion: 'Send "code" as well: a code from your authenticator app, or a recovery code.',
      details: { totpRequired: true },
    });
  }
}

export class WrongCode extends ApiError {
  constructor() {
    super(401, 'INVALID_CREDENTIALS', 'The code is wrong or was already used.', {
      suggestion: 'Wait for the next code in your authenticator app, or use a recovery code.',
      details: { totpRequired: true },
    });
  }
}

/** Returns a new secret, which does nothing until a code of it is confirmed. Replaces one that was not confirmed. */
export async function beginTotp(
  db: Db,
  keys: SigningKeys,
  { id, email }: User,
): Promise<{ secret: string; uri: string }> {
  const secret = newTotpSecret();
  const stored = await User.query(db)
    .findById(id)
    .whereNull('totpEnabledAt')
    .patch({ totpSecret: seal(keys, totpContext(id), secret), updatedAt: new Date() });
  if (stored === 0)
    throw new ApiError(409, 'CONFLICT', 'Two-factor authentication is already on.', {
      suggestion: 'Turn it off with DELETE /users/@me/totp first.',
    });
  return { secret, uri: totpUri(secret, { issuer: ISSUER, label: email }) };
}

/**
 * Turns two-factor authentication on. Ends the user's other sessions, so that all that remain have passed it. Returns the
 * recovery codes, which cannot be read again.
 */
export async function enableTotp(
  db: Db,
  keys: SigningKeys,
  user: User,
  { code, actor, session }: { code: string; actor: Actor; session: CurrentSession },
): Promise<string[]> {
  const attempt = await beginAttempt(db, { kind: 'code', email: user.email, ip: actor.ip ?? '' });
  const recoveryCodes = await inTransaction(db, async (trx) => {
    const current = await lockUser(trx, user.id);
    if (!current.totpSecret || current.totpEnabledAt)
      throw badRequest('Two-factor setup has not been started.', {
        suggestion: 'Start with POST /users/@me/totp.',
      });
    const step = stepOf(keys, current, code);
    if (step === undefined) throw new WrongCode();
    await useStep(trx, user.id, step);
    await User.query(trx).findById(user.id).patch({ totpEnabledAt: new Date(), updatedAt: new Date() });
    await endSessions(trx, user.id, { except: session.id });
    await recordTwoFactor(trx, user.id, actor, 'user.totp_enabled');
    return issueRecoveryCodes(trx, user.id);
  });
  await attempt.succeed();
  return recoveryCodes;
}

/** Turns two-factor authentication off, with a code. */
export async function disableTotp(
  db: Db,
  keys: SigningKeys,
  user: User,
  { code, actor }: { code: string; actor: Actor },
): Promise<void> {
  const attempt = await beginAttempt(db, { kind: 'code', email: user.email, ip: actor.ip ?? '' });
  const counted = await beginCode(db, user.id);
  await inTransaction(db, async (trx) => {
    const current = await lockUser(trx, user.id);
    if (!current.totpEnabledAt) throw badRequest('Two-factor authentication is not on.');
    await useCode(trx, keys, current, code);
    await removeTwoFactor(trx, user.id);
    await recordTwoFactor(trx, user.id, actor, 'user.totp_disabled');
  });
  await attempt.succeed();
  await counted.succeed();
}

/** Removes secret and recovery codes, whether two-factor authentication is on or not. */
export async function removeTwoFactor(trx: Db, userId: string): Promise<void> {
  await User.query(trx)
    .findById(userId)
    .patch({ totpSecret: null, totpEnabledAt: null, totpLastStep: null, updatedAt: new Date() });
  await UserRecoveryCode.query(trx).where({ userId }).delete();
}

const recordTwoFactor = (
  trx: Db,
  userId: string,
  actor: Actor,
  action: 'user.totp_enabled' | 'user.totp_disabled',
): Promise<void> => recordAudit(trx, { userId, actor }, { action, target: { type: 'user', id: userId } });

/**
 * Uses a code of the authenticator or a recovery code; a wrong or used one is a 401. Each counts once, whatever it is given
 * for (RFC 6238, 5.2), also of concurrent requests.
 */
export async function useCode(trx: Db, keys: SigningKeys, user: User, code: string): Promise<void> {
  const step = stepOf(keys, user, code);
  if (step !== undefined) return useStep(trx, user.id, step);
  const used = await UserRecoveryCode.query(trx).deleteById([user.id, recoveryHash(user.id, code)]);
  if (used === 0) throw new WrongCode();
}

/** Returns the time step of a code of the authenticator, or undefined when it is not valid now. */
const stepOf = (keys: SigningKeys, { id, totpSecret }: User, code: string): number | undefined =>
  totpStepOf(unseal(keys, totpContext(id), totpSecret ?? ''), digitsOf(code), Date.now());

/** Accepts no code of this time step or an earlier one from now on. */
async function useStep(trx: Db, userId: string, step: number): Promise<void> {
  const used = await User.query(trx)
    .findById(userId)
    .where((user) => user.whereNull('totpLastStep').orWhere('totpLastStep', '<', step))
    .patch({ totpLastStep: step });
  if (used === 0) throw new WrongCode();
}

/** People copy codes with spaces. */
const digitsOf = (code: string): string => code.replace(/\s/g, '');

async function issueRecoveryCodes(trx: Db, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await UserRecoveryCode.query(trx).where({ userId }).delete();
  await UserRecoveryCode.query(trx).insert(codes.map((code) => ({ userId, codeHash: recoveryHash(userId, code) })));
  return codes;
}

function newRecoveryCode(): string {
  const letter = () => RECOVERY_ALPHABET[randomInt(RECOVERY_ALPHABET.length)] ?? '';
  const text = Array.from({ length: RECOVERY_CODE_LENGTH }, letter).join('');
  return text.replace(/(.{4})(?!$)/g, '$1-');
}

const recoveryHash = (userId: string, code: string): Buffer =>
  hashToken(`recovery ${userId} ${code.toLowerCase().replace(/[\s-]/g, '')}`);

/** Locks the user, so that codes, password and sessions change one after the other. */
export const lockUser = (trx: Db, id: string): Promise<User> =>
  User.query(trx).findById(id).forNoKeyUpdate().throwIfNotFound().execute();
