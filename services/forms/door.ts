// Decides what becomes of a submission of a visitor: stored, asked for one more button, or refused for all addresses alike.
import { type Db, inTransaction } from '../../db/connect.ts';
import type { Form } from '../../db/models/form.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { validationError } from '../../platform/errors.ts';
import { clientNetwork } from '../../platform/http/client-network.ts';
import type { Settings } from '../../platform/settings.ts';
import { countUse, tooMany } from '../throttle/count.ts';
import { isChallengeUsed, isProof, openChallenge, useChallenge } from './challenges.ts';
import { openContinuation, sealContinuation, WAIT_MS } from './continuation.ts';
import {
  type CheckedSubmission,
  checkSubmission,
  type GivenSubmission,
  limitSubmissions,
  type SubmissionOrigin,
  storeSubmission,
} from './receive.ts';

export interface DoorDeps {
  db: Db;
  settings: Pick<Settings, 'forms' | 'secretKeys'>;
}

/** What bots do not get right. */
export interface Evidence {
  token: string | undefined;
  nonce: string | undefined;
  /** The field that people do not see was filled in. */
  isTrapped: boolean;
  /** A form post: without script it waits instead of computing a proof. */
  isFormPost: boolean;
}

export type Outcome = { kind: 'stored'; id: string } | { kind: 'continue'; token: string; waits: boolean };

/** Names of the request, for its errors. */
export interface Names {
  data: string;
  topics: string;
  token: string;
}

const LEAST_MS = 2_000;

/** Takes what a visitor has sent. */
export async function receive(
  deps: DoorDeps,
  form: Form,
  given: GivenSubmission,
  origin: SubmissionOrigin,
  evidence: Evidence,
  names: Names,
): Promise<Outcome> {
  const { db, settings } = deps;
  const checked = await checkSubmission(db, form, given, names);
  const { token, nonce, isTrapped, isFormPost } = evidence;
  if (isFormPost && !nonce) return waitInstead(deps, form, given, origin);
  const issuedAt = proofOf(settings.secretKeys, form, checked, token, nonce, names);
  const isTooFast = Date.now() - issuedAt < LEAST_MS;
  const isUsed = () => badProof(names, 'was used before');
  if (isTrapped || isTooFast || form.attackedSince) {
    if (token === undefined || !(await useChallenge(db, token))) throw isUsed();
    return {
      kind: 'continue',
      waits: false,
      token: sealContinuation(settings.secretKeys, form.id, { given, waits: false }),
    };
  }
  const id = token && (await storeOnce(deps, form, checked, origin, token));
  if (!id) throw isUsed();
  return { kind: 'stored', id };
}

/**
 * Stores a submission and uses its token up, both or neither: a visitor whose answer was lost can send it again. Undefined
 * where the token was used before, which does not count for the limits.
 */
async function storeOnce(
  { db, settings }: DoorDeps,
  form: Form,
  checked: CheckedSubmission,
  origin: SubmissionOrigin,
  token: string,
): Promise<string | undefined> {
  if (await isChallengeUsed(db, token)) return undefined;
  await limitSubmissions(db, form, origin.ip, settings);
  return inTransaction(db, async (trx) =>
    (await useChallenge(trx, token)) ? storeSubmission(trx, form, checked, origin) : undefined,
  );
}

const badProof = ({ token }: Names, rule: string) =>
  validationError([{ field: token, message: `"${token}" ${rule}`, code: 'custom' }]);

/** Returns the time of rendering. Throws for a proof that is missing, wrong or expired. */
function proofOf(
  keys: SigningKeys,
  form: Form,
  { email }: CheckedSubmission,
  token: string | undefined,
  nonce: string | undefined,
  names: Names,
): number {
  if (!token || !nonce)
    throw validationError([{ field: names.token, message: `"${names.token}" is required`, code: 'required' }]);
  const challenge = openChallenge(keys, form.id, token);
  if (!challenge) throw badProof(names, 'is no valid token of this form, or has expired');
  // A token keeps the difficulty it was given.
  if (!isProof({ token, nonce, formId: form.id, email }, challenge.difficulty))
    throw badProof(names, 'has no proof of work for this address');
  return challenge.issuedAt;
}

const WITHOUT_SCRIPT = { perIp: 3, perForm: 60, minutes: 60 } as const;

const underAttack = () => tooMany(WITHOUT_SCRIPT.minutes * 60, 'Too many submissions.');

/** A form post without script waits on one more page; few may, and none while the form is under attack. */
async function waitInstead(
  { db, settings }: DoorDeps,
  form: Form,
  given: GivenSubmission,
  { ip }: SubmissionOrigin,
): Promise<Outcome> {
  if (form.attackedSince) throw underAttack();
  const { perIp, perForm, minutes } = WITHOUT_SCRIPT;
  const seconds = await countUse(db, [
    { name: `form without script ${form.id}`, max: perForm, minutes },
    ...(ip === null ? [] : [{ name: `form without script ${clientNetwork(ip)}`, max: perIp, minutes }]),
  ]);
  if (seconds > 0) throw tooMany(seconds, 'Too many submissions.');
  return {
    kind: 'continue',
    waits: true,
    token: sealContinuation(settings.secretKeys, form.id, { given, waits: true }),
  };
}

/** Takes the press of the button of one more page; undefined for one that has expired or was pressed before. */
export async function receiveContinued(
  deps: DoorDeps,
  form: Form,
  token: string,
  origin: SubmissionOrigin,
  names: Names,
): Promise<Outcome | undefined> {
  const { db, settings } = deps;
  const continuation = openContinuation(settings.secretKeys, form.id, token);
  if (!continuation) return undefined;
  const { given, issuedAt, waits } = continuation;
  if (waits && form.attackedSince) throw underAttack();
  if (waits && Date.now() - issuedAt < WAIT_MS) return { kind: 'continue', waits, token };
  const checked = await checkSubmission(db, form, given, names);
  const id = await storeOnce(deps, form, checked, origin, token);
  return id === undefined ? undefined : { kind: 'stored', id };
}

/** Takes what a server has sent, which needs no evidence. */
export async function receiveTrusted(
  { db, settings }: DoorDeps,
  form: Form,
  given: GivenSubmission,
  origin: SubmissionOrigin,
  names: Names,
): Promise<string> {
  const checked = await checkSubmission(db, form, given, names);
  await limitSubmissions(db, form, null, settings);
  return storeSubmission(db, form, checked, origin);
}
