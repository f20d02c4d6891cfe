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
