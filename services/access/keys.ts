import { type Db, inTransaction } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { hashToken } from '../../platform/crypto/secrets.ts';
import { notFound } from '../../platform/errors.ts';
import { randomText } from '../../platform/ids.ts';
import type { Actor } from '../audit/record.ts';
import { SYSTEM_PROJECT_ID } from '../system/project.ts';

export interface ProjectKeys {
  publicKey: string;
  secretKey: string;
}

export type KeyKind = 'public' | 'secret';

/** The project a key belongs to. Statements that write compare `keyGeneration` again. */
export interface ProjectAccess {
  projectId: string;
  keyGeneration: number;
  disabled: boolean;
  disabledReason: string | null;
  /** A cap on transactional mail is set, so each mail is counted when it is accepted. */
  capped?: boolean;
  /** Who the audit log names for acts of this call; the system where nobody calls. */
  actor?: Actor;
}

/** Payload of the notifications that invalidate key caches: the project's id. */
export const KEYS_CHANNEL = 'everpost_keys';

export const newKeys = (): ProjectKeys => ({ publicKey: `pk_${randomText(48)}`, secretKey: `sk_${randomText(48)}` });

export function keyKind(key: string): KeyKind | undefined {
  const match = /^(pk|sk)_[A-Za-z0-9]{48}$/.exec(key);
  if (!match) return undefined;
  return match[1] === 'pk' ? 'public' : 'secret';
}

export async function findByKey(db: Db, key: string): Promise<ProjectAccess | undefined> {
  const project = await Project.query(db)
    .findOne(keyKind(key) === 'public' ? { publicKey: key } : { secretKeyHash: hashToken(key) })
    .select('id', 'keyGeneration', 'disabled', 'disabledReason', 'billingCapped');
  return project && accessOf(project);
}

export const accessOf = ({ id, keyGeneration, disabled, disabledReason, billingCapped }: Project): ProjectAccess => ({
  projectId: id,
  keyGeneration,
  disabled,
  disabledReason,
  capped: billingCapped,
});

/** Replaces both keys; the old ones stop working in every process when the transaction commits. */
export async function regenerateKeys(db: Db, projectId: string): Promise<ProjectKeys> {
  const keys = newKeys();
  await inTransaction(db, async (trx) => {
    const changed = await Project.query(trx)
      .findById(projectId)
      .whereNull('deletedAt')
      .whereNot({ id: SYSTEM_PROJECT_ID })
      .patch({
        publicKey: keys.publicKey,
        secretKeyHash: hashToken(keys.secretKey),
        keyGeneration: Project.raw('key_generation + 1'),
        updatedAt: new Date(),
      });
    if (!changed) throw notFound('project');
    await notifyKeysChanged(trx, projectId);
  });
  return keys;
}

/** Notifies inside the transaction, unlike other notifications: it is rare, and must be neither lost nor early. */
export async function notifyKeysChanged(trx: Db, projectId: string): Promise<void> {
  await trx.raw('select pg_notify(?, ?)', [KEYS_CHANNEL, projectId]);
}
