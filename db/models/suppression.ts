import type { Db } from '../db.ts';
import { statement } from '../statement.ts';
import { BaseModel } from './base.ts';

export const suppressionReasons = ['HARD_BOUNCE', 'COMPLAINT', 'MANUAL'] as const;
export type SuppressionReason = (typeof suppressionReasons)[number];

/** An address that must not be written to, found by its hash. The address itself is deleted with the contact. */
export class Suppression extends BaseModel {
  static override tableName = 'suppressions';

  declare id: string;
  declare projectId: string;
  declare addressHash: Buffer;
  declare email: string | null;
  declare contactId: string | null;
  declare reason: SuppressionReason;
  /** Why it was added by hand. */
  declare note: string | null;
  /** The mail that bounced or was reported as spam. */
  declare emailId: string | null;
}

/** SQL: whether mail to an address must not be sent; both parameters are SQL. */
export const isSuppressed = (projectId: string, email: string): string => `is_suppressed(${projectId}, ${email})`;

export type FoundSuppression = Pick<
  Suppression,
  'id' | 'email' | 'contactId' | 'reason' | 'note' | 'emailId' | 'createdAt'
>;

const ofAddress = 'from suppressions where project_id = $1 and address_hash = address_hash($1::uuid, $2)';
const LISTED = 'id, email, contact_id, reason, note, email_id, created_at';

const find = statement<FoundSuppression>('suppression-find', `select ${LISTED} ${ofAddress}`);
const remove = statement<FoundSuppression>('suppression-remove', `delete ${ofAddress} returning ${LISTED}`);

export async function findSuppressionOf(
  db: Db,
  projectId: string,
  email: string,
): Promise<FoundSuppression | undefined> {
  const [found] = await find(db, [projectId, email]);
  return found;
}

export async function removeSuppressionOf(
  db: Db,
  projectId: string,
  email: string,
): Promise<FoundSuppression | undefined> {
  const [removed] = await remove(db, [projectId, email]);
  return removed;
}
