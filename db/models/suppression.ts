import { BaseModel } from './base.ts';

export type SuppressionReason = 'HARD_BOUNCE' | 'COMPLAINT';

/** An address that bounced or complained. It is found by its hash; its text goes with the contact. */
export class Suppression extends BaseModel {
  static override tableName = 'suppressions';

  declare id: string;
  declare projectId: string;
  declare addressHash: Buffer;
  declare email: string | null;
  declare contactId: string | null;
  declare reason: SuppressionReason;
  /** The mail that bounced, or was complained about. */
  declare emailId: string | null;
}

/**
 * Whether mail to an address must not leave, as a condition inside a statement; both are SQL. A complaint ends the
 * subscription, a hard bounce all mail. One look into an index, whatever the planner thinks: for `exists` it may choose
 * to read the whole list first.
 */
export const isSuppressed = (projectId: string, email: string): string =>
  `coalesce((
     select s.reason = 'HARD_BOUNCE' from suppressions s
     where s.project_id = ${projectId} and s.address_hash = address_hash(${projectId}, ${email}) limit 1), false)`;
