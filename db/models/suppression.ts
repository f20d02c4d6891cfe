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

/**
 * SQL: whether mail to an address must not be sent; both parameters are SQL. A complaint only ends the subscription, the
 * other reasons end all mail. `limit 1` forces one index lookup; with `exists` the planner may hash the whole table.
 */
export const isSuppressed = (projectId: string, email: string): string =>
  `coalesce((
     select s.reason <> 'COMPLAINT' from suppressions s
     where s.project_id = ${projectId} and s.address_hash = address_hash(${projectId}, ${email}) limit 1), false)`;
