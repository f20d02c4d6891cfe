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

/** A secret that was replaced and signs too until then. */
export interface EarlierSecret {
  secret: string;
  until: string;
}

export const sealEarlierSecrets = (keys: SigningKeys, endpointId: string, earlier: EarlierSecret[]): string | null =>
  earlier.length > 0 ? sealSecret(keys, endpointId, JSON.stringify(earlier)) : null;

/** Returns the replaced secrets that still sign, newest first. */
export function earlierSecrets(
  keys: SigningKeys,
  { id, previousSecret, previousSecretUntil }: SealedSecrets,
  now: Date,
): EarlierSecret[] {
  if (previousSecret === null || previousSecretUntil === null || previousSecretUntil <= now) return [];
  const opened = unseal(keys, endpointSecretContext(id), previousSecret);
  // Rotations before 2026-11-17 stored one secret instead of a list.
  const earlier: EarlierSecret[] = opened.startsWith('[')
    ? JSON.parse(opened)
    : [{ secret: opened, until: previousSecretUntil.toISOString() }];
  return earlier.filter(({ until }) => new Date(until) > now);
}

/** Returns the secrets that sign at a time: the current one, and those whose overlap has not ended. */
export const signingSecrets = (keys: SigningKeys, endpoint: SealedSecrets, now: Date): string[] => [
  unseal(keys, endpointSecretContext(endpoint.id), endpoint.secret),
  ...earlierSecrets(keys, endpoint, now).map(({ secret }) => secret),
];
