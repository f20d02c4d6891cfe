// Users with two-factor authentication, set up through the API.
import { totpCode } from '../../platform/crypto/totp.ts';
import type { ApiAnswer, Client } from './api.ts';

export interface Authenticator {
  secret: string;
  recoveryCodes: string[];
  /** The code of the next step, which is valid already, or of one that many steps after the present one. */
  code(steps?: number): string;
}

function bodyOf({ status, body }: ApiAnswer) {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

/** Turns two-factor authentication on for the user of a session. Uses the present code: each counts once. */
export async function enableTwoFactor(session: Client): Promise<Authenticator> {
  const { secret } = bodyOf(await session.post('/users/@me/totp'));
  const code = (steps = 1) => totpCode(secret, Date.now() + steps * 30_000);
  const { recoveryCodes } = bodyOf(await session.post('/users/@me/totp/confirm', { code: code(0) }));
  return { secret, recoveryCodes, code };
}
