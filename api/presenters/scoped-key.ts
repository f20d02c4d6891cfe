import type { ScopedKey } from '../../services/access/scoped-keys.ts';
import { grantedScopes } from '../../services/access/scopes.ts';
import { dateTime, list, nullable, object, oneOf, optional, text, uuid } from '../http/schemas.ts';

export const scopedKeySchema = object({
  id: uuid(),
  name: text(),
  prefix: text(),
  scopes: list(oneOf(...grantedScopes)),
  expiresAt: nullable(dateTime()),
  allowedIps: list(text()),
  lastUsedAt: nullable(dateTime()),
  createdAt: dateTime(),
  /** The id of a user; the address is null once the user is gone. */
  createdBy: nullable(uuid()),
  createdByEmail: nullable(text()),
  /** In the response to the creation only. */
  key: optional(text()),
});

export const presentScopedKey = (scopedKey: ScopedKey & { key?: string }) => ({
  ...scopedKey,
  expiresAt: scopedKey.expiresAt?.toISOString() ?? null,
  lastUsedAt: scopedKey.lastUsedAt?.toISOString() ?? null,
  createdAt: scopedKey.createdAt.toISOString(),
});
