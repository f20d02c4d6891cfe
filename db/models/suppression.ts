import { BaseModel } from './base.ts';

export type SuppressionReason = 'HARD_BOUNCE' | 'COMPLAINT';

/** An address that bounced or complained, found by its hash. The address itself is deleted with the contact. */
export class Suppression extends BaseModel {
  static override tableName = 'suppressions';

  declare id: string;
  declare projectId: string;
  declare addressHash: Buffer;
  declare email: string | null;
  declare contactId: string | null;
  declare reason: SuppressionReason;
  /** The mail that bounced or was reported as spam. */
  declare emailId: string | null;
}

/** SQL: whether mail to an address must not be sent; both parameters are SQL. */
export const isSuppressed = (projectId: string, email: string): string => `is_suppressed(${projectId}, ${email})`;
