import ipaddr from 'ipaddr.js';
import { lockName } from '../../db/advisory-lock.ts';
import { type Db, inTransaction } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';
import { ApiError, invalidKey, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { Actor } from '../audit/record.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { newSecretKey, notifyKeysChanged, type ProjectAccess, type ScopedKeyAccess } from './keys.ts';
import type { GrantedScope } from './scopes.ts';
import { writing } from './write-transaction.ts';

export interface NewScopedKey {
  name: string;
  scopes: GrantedScope[];
  expiresAt?: Date | null | undefined;
  allowedIps?: string[] | undefined;
}

export interface ScopedKey {
  id: string;
  name: string;
  /** The beginning of the key, to recognize it by. */
  prefix: string;
  scopes: GrantedScope[];
  expiresAt: Date | null;
  allowedIps: string[];
  lastUsedAt: Date | null;
  createdAt: Date;
  createdBy: string | null;
  createdByEmail: string | null;
}

const PREFIX_LENGTH = 'sk_'.length + 8;

const keysWhere = (name: string, condition: string) =>
  statement<ScopedKey>(
    name,
    `select k.id, k.name, k.prefix, k.scopes, k.expires_at, k.allowed_ips, k.last_used_at, k.created_at, k.created_by,
       u.email as created_by_email
     from scoped_keys k left join users u on u.id = k.created_by
     where k.project_id = $1 and k.revoked_at is null and ${condition} order by k.id`,
  );
const list = keysWhere('scoped-keys-list', 'true');
const find = keysWhere('scoped-key-find', 'k.id = $2');

/** Lists the keys that are not revoked, expired ones included. */
export const listScopedKeys = (db: Db, projectId: string): Promise<ScopedKey[]> => list(db, [projectId]);

const insert = statement(
  'scoped-key-insert',
  `insert into scoped_keys (id, project_id, name, scopes, expires_at, allowed_ips, key_hash, prefix, created_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);
const count = statement<{ count: number }>(
  'scoped-keys-count',
  'select count(*)::integer as count from scoped_keys where project_id = $1 and revoked_at is null',
);
const revoke = statement(
  'scoped-key-revoke',
  'update scoped_keys set revoked_at = now() where project_id = $1 and id = $2 and revoked_at is null',
);

/** The returned key cannot be read again: only its hash is stored. */
export async function createScopedKey(
  db: Db,
  project: ProjectAccess & { actor: Actor },
  { name, scopes, expiresAt = null, allowedIps = [] }: NewScopedKey,
  max: number,
): Promise<ScopedKey & { key: string }> {
  const { projectId, actor } = project;
  const id = newId();
  const key = newSecretKey();
  const shown = { name, scopes: [...new Set(scopes)], expiresAt, allowedIps: [...new Set(allowedIps)] };
  return writing(db, project, async (trx) => {
    await requireRoomForKey(trx, projectId, max);
    await insert(trx, [
      id,
      projectId,
      shown.name,
      shown.scopes,
      shown.expiresAt,
      shown.allowedIps,
      hashToken(key),
      key.slice(0, PREFIX_LENGTH),
      actor.type === 'USER' ? actor.id : null,
    ]);
    await recordAudit(trx, project, {
      action: 'key.created',
      target: { type: 'key', id },
      changes: changesOf({}, { ...shown, expiresAt: expiresAt?.toISOString() }),
    });
    const [created] = await find(trx, [projectId, id]);
    if (!created) throw new Error('the created key was not found');
    return { ...created, key };
  });
}

async function requireRoomForKey(trx: Db, projectId: string, max: number): Promise<void> {
  await lockName(trx, `scoped_keys/${projectId}`);
  const [row] = await count(trx, [projectId]);
  if (row && row.count >= max)
    throw new ApiError(409, 'CONFLICT', `This project has reached the limit of ${max} scoped keys.`, {
      suggestion: 'Revoke one you no longer use.',
    });
}

/**
 * Ends a key at once in every process: accepting statements read its row, and the notification empties the caches. The
 * row stays, because the audit log shows its name.
 */
export async function revokeScopedKey(db: Db, { projectId, actor }: ProjectAccess, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    if ((await revoke.count(trx, [projectId, id])) === 0) throw notFound('key');
    await recordAudit(trx, { projectId, actor }, { action: 'key.revoked', target: { type: 'key', id } });
    await notifyKeysChanged(trx, projectId);
  });
}

/** Rejects with 401 a key that has expired, or that is used from an address it does not allow. */
export function requireUsableKey({ expiresAt, allowedIps }: ScopedKeyAccess, ip: string): void {
  if (expiresAt && expiresAt.getTime() <= Date.now()) throw invalidKey('This key has expired.');
  if (allowedIps.length > 0 && !isAllowedIp(allowedIps, ip))
    throw invalidKey('This key may not be used from this IP address.');
}

function isAllowedIp(allowed: readonly string[], ip: string): boolean {
  if (!ipaddr.isValid(ip)) return false;
  const address = ipaddr.process(ip);
  return allowed.some((entry) => {
    const [network, bits] = parseNetwork(entry);
    return network.kind() === address.kind() && address.match(network, bits);
  });
}

/** Reads an address or a network in CIDR notation; throws on anything else. IPv4 in IPv6 notation is IPv4. */
export function parseNetwork(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (entry.includes('/')) return ipaddr.parseCIDR(entry);
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
