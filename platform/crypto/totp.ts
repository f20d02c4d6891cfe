import { Secret, TOTP } from 'otpauth';

// Time-based one-time passwords (RFC 6238), with the parameters that every authenticator app supports.

const PERIOD = 30;
const parameters = { algorithm: 'SHA1', digits: 6, period: PERIOD } as const;
/** One step of clock drift or delay either way, the most that RFC 6238 (5.2) recommends. */
const WINDOW = 1;

/** Returns a new secret of 160 bits in base32. */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** Returns the address that authenticator apps read from a QR code. */
export const totpUri = (secret: string, { issuer, label }: { issuer: string; label: string }): string =>
  new TOTP({ ...parameters, secret, issuer, label }).toString();

/** Returns the code of a moment, given in milliseconds. */
export const totpCode = (secret: string, at: number): string =>
  new TOTP({ ...parameters, secret }).generate({ timestamp: at });

/** Returns the time step that `code` belongs to, or undefined when it is not valid at this moment. */
export function totpStepOf(secret: string, code: string, at: number): number | undefined {
  const totp = new TOTP({ ...parameters, secret });
  const offset = totp.validate({ token: code, timestamp: at, window: WINDOW });
  return offset === null ? undefined : totp.counter({ timestamp: at }) + offset;
}
