import { BaseModel } from './base.ts';

export type EmailStatus =
  | 'PENDING'
  | 'SENDING'
  | 'SENT'
  | 'DELIVERED'
  | 'OPENED'
  | 'CLICKED'
  | 'BOUNCED'
  | 'COMPLAINED'
  | 'FAILED'
  | 'CANCELLED'
  | 'UNKNOWN';

/** A row of the send ledger; what is sent stands in `email_contents`. */
export class Email extends BaseModel {
  static override tableName = 'emails';

  declare id: string;
  declare projectId: string;
  declare contactId: string;
  declare sourceType: 'TRANSACTIONAL' | 'WORKFLOW' | 'CAMPAIGN';
  declare priority: number;
  declare status: EmailStatus;
  declare reason: string | null;
  declare attempts: number;
  declare unknownOutcomes: number;
  declare dueAt: Date;
  declare batchId: string | null;
  declare providerMessageId: string | null;
  declare sentAt: Date | null;
  declare updatedAt: Date;
}
