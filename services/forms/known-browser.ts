// The browser in which the hosted form was sent confirms without a movement.
import { openToken, type SigningKeys, signToken } from '../../platform/crypto/signed-token.ts';
import { bytesOf, idOf } from '../emails/id-bytes.ts';

const NAME = 'everpost_submission';
const PURPOSE = 'submission cookie';
const MAX_AGE_SECONDS = 90 * 86_400;

/** Sent to the pages of confirmations only. */
export function submissionCookie(keys: SigningKeys, submissionId: string, isSecure: boolean): string {
  const value = signToken(keys, PURPOSE, bytesOf(submissionId));
  return `${NAME}=${value}; Path=/confirm; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
}

export function isSubmissionCookie(keys: SigningKeys, header: string | undefined, submissionId: string): boolean {
  const value = header
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${NAME}=`))
    ?.slice(NAME.length + 1);
  const content = value === undefined ? undefined : openToken(keys, PURPOSE, value);
  return content !== undefined && idOf(content) === submissionId;
}
