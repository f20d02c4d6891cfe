import { randomInt } from 'node:crypto';
import { type Db, inTransaction } from '../../db/connect.ts';
import { User } from '../../db/models/user.ts';
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

/** What a code is given for. Each code of the authenticator works once for each. */
export type CodeUse = 'signIn' | 'confirm' | 'disable';

/** Where a secret belongs, for its seal. */
export const totpContext = (userId: string): string[] => ['totp', userId];

/** The account has two-factor authentication, and no code was given. */
export class CodeRequired extends ApiError {
  constructor() {
    super(401, 'INVALID_CREDENTIALS', 'This account has two-factor authentication: a code is missing.', {
      suggestion: 'Send "code" too: one of your authenticator app, or a recovery code.',
      details: { totpRequired: true },
    });
  }
}

export class WrongCode extends ApiError {
  constructor() {
    super(401, 'INVALID_CREDENTIALS', 'The code is wrong, or was used before.', {
      suggestion: 'Wait for the next code of your authenticator app, or use a recovery code.',
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
    throw new ApiError(409, 'CONFLICT', 'Two-factor authentication is on already.', {
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
      throw badRequest('There is no two-factor authentication to confirm.', {
        suggestion: 'Begin with POST /users/@me/totp.',
      });
    const secret = unseal(keys, totpContext(user.id), current.totpSecret);
    if (totpStepOf(secret, digitsOf(code), Date.now()) === undefined) throw new WrongCode();
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
    await useCode(trx, keys, current, { code, use: 'disable' });
    await removeTwoFactor(trx, user.id);
    await recordTwoFactor(trx, user.id, actor, 'user.totp_disabled');
  });
  await attempt.succeed();
  await counted.succeed();
}

/** Removes secret and recovery codes, whether two-factor authentication is on or not. */
export async function removeTwoFactor(trx: Db, userId: string): Promise<void> {
  const none = { totpSecret: null, totpEnabledAt: null, totpSignInStep: null, totpConfirmStep: null };
  await User.query(trx)
    .findById(userId)
    .patch({ ...none, updatedAt: new Date() });
  await trx('userRecoveryCodes').where({ userId }).del();
}

const recordTwoFactor = (
  trx: Db,
  userId: string,
  actor: Actor,
  action: 'user.totp_enabled' | 'user.totp_disabled',
): Promise<void> => recordAudit(trx, { userId, actor }, { action, target: { type: 'user', id: userId } });

const stepColumns = { signIn: 'totpSignInStep', confirm: 'totpConfirmStep' } as const;

/**
 * Uses a code of the authenticator or a recovery code; a wrong or used one is a 401. The caller has locked the user, so
 * that of two concurrent uses one succeeds.
 */
export async function useCode(
  trx: Db,
  keys: SigningKeys,
  { id: userId, totpSecret, ...user }: User,
  { code, use }: { code: string; use: CodeUse },
): Promise<void> {
  const secret = unseal(keys, totpContext(userId), totpSecret ?? '');
  const step = totpStepOf(secret, digitsOf(code), Date.now());
  if (step === undefined) {
    const used = await trx('userRecoveryCodes')
      .where({ userId, codeHash: recoveryHash(userId, code) })
      .del();
    if (used === 0) throw new WrongCode();
    return;
  }
  if (use === 'disable') return;
  const column = stepColumns[use];
  if (step <= (user[column] ?? 0)) throw new WrongCode();
  await User.query(trx)
    .findById(userId)
    .patch({ [column]: step });
}

/** People copy codes with spaces. */
const digitsOf = (code: string): string => code.replace(/\s/g, '');

async function issueRecoveryCodes(trx: Db, userId: string): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await trx('userRecoveryCodes').where({ userId }).del();
  await trx('userRecoveryCodes').insert(codes.map((code) => ({ userId, codeHash: recoveryHash(userId, code) })));
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
