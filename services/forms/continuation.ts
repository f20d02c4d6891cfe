// One more page with a button: it carries what was submitted, sealed, so that nothing is stored until the button is pressed.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { SealError, seal, unseal } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { randomText } from '../../platform/ids.ts';
import type { GivenSubmission } from './receive.ts';

export interface Continuation {
  given: GivenSubmission;
  issuedAt: number;
  /** In place of the proof of work, where there is no script. */
  waits: boolean;
}

const PURPOSE = 'form continuation';
const VALID_MS = 10 * 60_000;
export const WAIT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const NONCE = 16;

export function sealContinuation(
  keys: SigningKeys,
  formId: string,
  { given, waits }: Omit<Continuation, 'issuedAt'>,
): string {
  const text = JSON.stringify({ given, waits, issuedAt: Date.now(), nonce: randomText(NONCE) });
  return seal(keys, [PURPOSE, formId], deflateRawSync(text).toString('base64'));
}

/** Undefined for one that is not ours, of another form, or older than ten minutes. */
export function openContinuation(keys: SigningKeys, formId: string, token: string): Continuation | undefined {
  try {
    const packed = Buffer.from(unseal(keys, [PURPOSE, formId], token), 'base64');
    const text = inflateRawSync(packed, { maxOutputLength: MAX_BYTES }).toString('utf8');
    const continuation = JSON.parse(text) as Continuation;
    return Date.now() - continuation.issuedAt > VALID_MS ? undefined : continuation;
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
