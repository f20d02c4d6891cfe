import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import type { AuditAction } from './actions.ts';

/** Who does something. The `id` of a USER is null when it is not known who they are. */
export interface Actor {
  readonly type: 'USER' | 'KEY' | 'SYSTEM';
  readonly id: string | null;
  readonly ip: string | null;
  readonly requestId: string | null;
}

/** The worker and the command line. */
export const SYSTEM: Actor = { type: 'SYSTEM', id: null, ip: null, requestId: null };

/** Names a person who proved who they are during the request, as in a log-in. */
export const asUser = ({ ip, requestId }: Actor, userId: string): Actor => ({
  type: 'USER',
  id: userId,
  ip,
  requestId,
});

/** Returns the user of an act; null for a key. */
export const userIdOf = (actor: Actor | undefined): string | null => (actor?.type === 'USER' ? actor.id : null);

/** Where an act belongs, and who did it. A `ProjectAccess` is one. */
export interface AuditScope {
  projectId?: string | undefined;
  /** The account whose own log (`GET /users/@me/audit`) shows the act. */
  userId?: string | undefined;
  actor?: Actor | undefined;
}

export interface AuditTarget {
  type: string;
  id: string | null;
}

export type Change = { from: unknown; to: unknown } | { changed: true };
export type Changes = Record<string, Change>;

export interface Act {
  action: AuditAction;
  target?: AuditTarget;
  changes?: Changes;
}

const insert = statement(
  'audit-record',
  `insert into audit_log
     (id, project_id, user_id, actor_type, actor_id, ip, request_id, action, target_type, target_id, changes)
   values ($1, $2::uuid, $3::uuid, $4, $5::uuid, $6, $7, $8, $9, $10, $11::jsonb)`,
);

/**
 * Records an act. Call it with the transaction of the act, so that both are committed or neither. Rows cannot be changed
 * later: give ids, never names or addresses of people.
 */
export async function recordAudit(
  trx: Db,
  { projectId, userId, actor = SYSTEM }: AuditScope,
  { action, target, changes = {} }: Act,
): Promise<void> {
  const { type, id, ip, requestId } = actor;
  await insert(trx, [
    newId(),
    projectId,
    userId,
    type,
    id,
    ip,
    requestId,
    action,
    target?.type,
    target?.id,
    JSON.stringify(changes),
  ]);
}

const MAX_TEXT = 200;

/** Whether a value is stored in the log: short, and no address of a person, which could not be erased from it. */
const isRecorded = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length <= MAX_TEXT && value.every(isRecorded);
  if (typeof value === 'string') return value.length <= MAX_TEXT && !value.includes('@');
  return value === null || typeof value === 'number' || typeof value === 'boolean' || value instanceof Date;
};

/** Returns the fields of `after` that differ from `before`; of long texts, addresses and objects only that they do. */
export function changesOf<T extends object>(before: Partial<T>, after: Partial<T>): Changes {
  const changes: Changes = {};
  for (const [field, given] of Object.entries(after)) {
    if (given === undefined) continue;
    const from: unknown = before[field as keyof T] ?? null;
    const to: unknown = given ?? null;
    if (isDeepStrictEqual(from, to)) continue;
    changes[field] = isRecorded(from) && isRecorded(to) ? { from, to } : { changed: true };
  }
  return changes;
}
