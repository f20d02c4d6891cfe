import { seal, unseal } from '../../platform/crypto/seal.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';

/** The context that an endpoint's secrets are bound to. */
export const endpointSecretContext = (endpointId: string): string[] => ['webhook endpoint', endpointId];
/** The context that an endpoint's headers are bound to: they contain tokens of other services. */
export const endpointHeadersContext = (endpointId: string): string[] => ['webhook endpoint headers', endpointId];

export type Headers = Record<string, string>;

export const sealSecret = (keys: SigningKeys, endpointId: string, secret: string): string =>
  seal(keys, endpointSecretContext(endpointId), secret);

export const sealEndpointHeaders = (keys: SigningKeys, endpointId: string, headers: Headers): string | null =>
  Object.keys(headers).length > 0 ? seal(keys, endpointHeadersContext(endpointId), JSON.stringify(headers)) : null;

export const openEndpointHeaders = (keys: SigningKeys, endpointId: string, sealed: string | null): Headers =>
  sealed === null ? {} : (JSON.parse(unseal(keys, endpointHeadersContext(endpointId), sealed)) as Headers);

interface SealedSecrets {
  id: string;
  secret: string;
  previousSecret: string | null;
  previousSecretUntil: Date | null;
}

/** Returns the secrets that sign at a time: the current one, and during a rotation the previous one. */
export function signingSecrets(
  keys: SigningKeys,
  { id, secret, previousSecret, previousSecretUntil }: SealedSecrets,
  now: Date,
): string[] {
  const overlaps = previousSecret !== null && previousSecretUntil !== null && previousSecretUntil > now;
  return [secret, ...(overlaps ? [previousSecret] : [])].map((sealed) =>
    unseal(keys, endpointSecretContext(id), sealed),
  );
}
