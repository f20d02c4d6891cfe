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

/**
 * SQL: whether mail to an address must not be sent; both parameters are SQL. A complaint only ends the subscription, a hard
 * bounce ends all mail. `limit 1` forces one index lookup; with `exists` the planner may hash the whole table.
 */
export const isSuppressed = (projectId: string, email: string): string =>
  `coalesce((
     select s.reason = 'HARD_BOUNCE' from suppressions s
     where s.project_id = ${projectId} and s.address_hash = address_hash(${projectId}, ${email}) limit 1), false)`;
