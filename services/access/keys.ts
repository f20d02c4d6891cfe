import { LRUCache } from 'lru-cache';
import { type Db, inTransaction } from '../../db/connect.ts';
import type { Listener } from '../../db/listener.ts';
import type { Project } from '../../db/models/project.ts';
import { notify } from '../../db/notify.ts';
import { statement } from '../../db/statement.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';
import { notFound } from '../../platform/errors.ts';
import { randomText } from '../../platform/ids.ts';
import { type Actor, recordAudit } from '../audit/record.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';
import type { GrantedScope } from './scopes.ts';

/** The key pair of a project. */
export interface ProjectKeys {
  publicKey: string;
  secretKey: string;
}

export type KeyKind = 'public' | 'secret';

/** The project a caller works on. Statements that write check generation or key again, see `openProject`. */
export interface ProjectAccess {
  projectId: string;
  /** Of the key pair, at authentication. Null for a scoped key, whose own row is checked instead. */
  keyGeneration: number | null;
  /** Undefined for the key pair and for sessions, which may do everything. */
  key?: ScopedKeyAccess;
  disabled: boolean;
  disabledReason: string | null;
  /** Successful requests are logged too. */
  logsRequests?: boolean;
  /** A billing limit on transactional mail is set, so each mail is counted when it is accepted. */
  countsOnAccept?: boolean;
  /** Who the audit log names for acts of this call; the system where nobody calls. */
  actor?: Actor;
}

/** What a scoped key may do, from where, and until when. */
export interface ScopedKeyAccess {
  id: string;
  scopes: readonly GrantedScope[];
  expiresAt: Date | null;
  /** Addresses and networks; from anywhere when empty. */
  allowedIps: readonly string[];
}

/** Payload of the notifications that invalidate key caches: the project's id. */
export const KEYS_CHANNEL = 'everpost_keys';

export const newSecretKey = (): string => `sk_${randomText(48)}`;

export const newKeys = (): ProjectKeys => ({ publicKey: `pk_${randomText(48)}`, secretKey: newSecretKey() });

export function keyKind(key: string): KeyKind | undefined {
  const match = /^(pk|sk)_[A-Za-z0-9]{48}$/.exec(key);
  if (!match) return undefined;
  return match[1] === 'pk' ? 'public' : 'secret';
}

interface KeyRow {
  id: string;
  keyGeneration: number;
  disabled: boolean;
  disabledReason: string | null;
  billingCapped: boolean;
  logRequests: boolean;
  keyId: string | null;
  scopes: GrantedScope[] | null;
  expiresAt: Date | null;
  allowedIps: string[] | null;
}

const PROJECT = 'p.id, p.key_generation, p.disabled, p.disabled_reason, p.billing_capped, p.log_requests';
const NO_SCOPED_KEY =
  'null::uuid as key_id, null::text[] as scopes, null::timestamptz as expires_at, null::text[] as allowed_ips';

const findByPublicKey = statement<KeyRow>(
  'key-public',
  `select ${PROJECT}, ${NO_SCOPED_KEY} from projects p where p.public_key = $1`,
);
const findBySecretKey = statement<KeyRow>(
  'key-secret',
  `select ${PROJECT}, ${NO_SCOPED_KEY} from projects p where p.secret_key_hash = $1
   union all
   select ${PROJECT}, k.id, k.scopes, k.expires_at, k.allowed_ips
   from scoped_keys k join projects p on p.id = k.project_id
   where k.key_hash = $1 and k.revoked_at is null and p.deleted_at is null`,
);

export async function findByKey(db: Db, key: string): Promise<ProjectAccess | undefined> {
  const [row] =
    keyKind(key) === 'public' ? await findByPublicKey(db, [key]) : await findBySecretKey(db, [hashToken(key)]);
  if (!row) return undefined;
  const { keyId: id, scopes, expiresAt, allowedIps } = row;
  return {
    projectId: row.id,
    keyGeneration: id === null ? row.keyGeneration : null,
    disabled: row.disabled,
    disabledReason: row.disabledReason,
    logsRequests: row.logRequests,
    countsOnAccept: row.billingCapped,
    ...(id !== null && { key: { id, scopes: scopes ?? [], expiresAt, allowedIps: allowedIps ?? [] } }),
  };
}

/** The access of a session. */
export const accessOf = ({ id, keyGeneration, disabled, disabledReason, billingCapped }: Project): ProjectAccess => ({
  projectId: id,
  keyGeneration,
  disabled,
  disabledReason,
  countsOnAccept: billingCapped,
});

const USE_INTERVAL_MS = 60_000;

const recordUse = statement(
  'key-used',
  `update scoped_keys set last_used_at = now() where id = $1 and project_id = $2
     and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
);

/**
 * Caches the project of each key. Notifications invalidate it when keys or a project's state change; without a
 * heartbeat on the listening connection every call queries the database. Unknown keys are not cached.
 */
export class KeyCache {
  private readonly cache = new LRUCache<string, ProjectAccess>({ max: 50_000 });
  /** Scoped keys whose use this process has recorded within the last minute. */
  private readonly used = new LRUCache<string, true>({ max: 50_000, ttl: USE_INTERVAL_MS });
  /** Raised by every notification, so that a result read before it is not cached. */
  private epoch = 0;
  private readonly db: Db;
  private readonly listener: Listener;

  constructor(db: Db, listener: Listener) {
    this.db = db;
    this.listener = listener;
    listener.on(KEYS_CHANNEL, (projectId) => this.invalidate(projectId));
    listener.onReset(() => this.clear());
  }

  /** For callers whose statements check the key again: a notification arrives some milliseconds late. */
  async find(key: string): Promise<ProjectAccess | undefined> {
    const cached = this.listener.healthy ? this.cache.get(key) : undefined;
    return cached ?? this.findCurrent(key);
  }

  /** For all other callers: always reads the database, so that a replaced key stops working at once. */
  async findCurrent(key: string): Promise<ProjectAccess | undefined> {
    const epoch = this.epoch;
    const access = await findByKey(this.db, key);
    if (access && epoch === this.epoch && this.listener.healthy) this.cache.set(key, access);
    return access;
  }

  /** Writes `lastUsedAt` at most once a minute, over all processes. */
  async recordUse(projectId: string, { id }: ScopedKeyAccess): Promise<void> {
    if (this.used.has(id)) return;
    this.used.set(id, true);
    await recordUse(this.db, [id, projectId]);
  }

  private invalidate(projectId: string): void {
    this.epoch++;
    for (const [key, access] of this.cache.entries()) if (access.projectId === projectId) this.cache.delete(key);
  }

  private clear(): void {
    this.epoch++;
    this.cache.clear();
  }
}

const replaceKeys = statement(
  'keys-replace',
  `update projects set public_key = $2, secret_key_hash = $3, key_generation = key_generation + 1, updated_at = now()
   where id = $1 and deleted_at is null and id <> $4`,
);

/** Replaces the key pair; the old keys stop working in every process when the transaction commits. */
export async function regenerateKeys(db: Db, projectId: string, actor?: Actor): Promise<ProjectKeys> {
  const keys = newKeys();
  await inTransaction(db, async (trx) => {
    const changed = await replaceKeys.count(trx, [
      projectId,
      keys.publicKey,
      hashToken(keys.secretKey),
      SYSTEM_PROJECT_ID,
    ]);
    if (changed === 0) throw notFound('project');
    await recordAudit(
      trx,
      { projectId, actor },
      { action: 'project.keys_regenerated', target: { type: 'project', id: projectId } },
    );
    await notifyKeysChanged(trx, projectId);
  });
  return keys;
}

/** Notifies inside the transaction, unlike other notifications: it is rare, and must be neither lost nor early. */
export async function notifyKeysChanged(trx: Db, projectId: string): Promise<void> {
  await notify(trx, KEYS_CHANNEL, projectId);
}
