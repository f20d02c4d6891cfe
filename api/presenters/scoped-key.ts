import type { ScopedKey } from '../../services/access/scoped-keys.ts';
import { grantedScopes } from '../../services/access/scopes.ts';
import { dateTime, list, namedType, nullable, oneOf, optional, text, uuid } from '../http/schemas.ts';

export const scopedKeySchema = namedType('ScopedKey', 'An API key that is limited to some scopes.', {
  id: uuid().description('Key ID.'),
  name: text().description('Key name.').example('Web shop'),
  prefix: text().description('First 11 characters of the key, to recognize it by.').example('sk_1a2b3c4d'),
  scopes: list(oneOf(...grantedScopes)).description(
    'Granted scopes. `write` includes `read`; `all` grants everything that the secret key may do.',
  ),
  expiresAt: nullable(dateTime()).description('When the key expires; null if it does not.'),
  allowedIps: list(text())
    .description('IP addresses and networks that may use the key. If empty, all may.')
    .example(['192.0.2.0/24']),
  lastUsedAt: nullable(dateTime()).description('When the key was last used; null if it never was.'),
  createdAt: dateTime().description('When the key was created.'),
  createdBy: nullable(uuid()).description('ID of the user who created the key; null if no user did.'),
  createdByEmail: nullable(text())
    .description('Email address of the user who created the key; null if the account no longer exists.')
    .example('ann@example.com'),
  key: optional(text())
    .description('The key itself (`sk_...`). Returned only when the key is created.')
    .example('sk_...'),
});

export const presentScopedKey = (scopedKey: ScopedKey & { key?: string }) => ({
  ...scopedKey,
  expiresAt: scopedKey.expiresAt?.toISOString() ?? null,
  lastUsedAt: scopedKey.lastUsedAt?.toISOString() ?? null,
  createdAt: scopedKey.createdAt.toISOString(),
});
