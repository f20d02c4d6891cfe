import { BaseModel } from './base.ts';

/** SENDING is shown, not stored: an attempt is in flight (`outgoing_mails`). */
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
  | 'SKIPPED'
  | 'CANCELLED'
  | 'UNKNOWN';

/** A row of the ledger. Its subject and body are in `email_contents`. */
export class Email extends BaseModel {
  static override tableName = 'emails';

  declare id: string;
  declare projectId: string;
  declare contactId: string;
  declare sourceType: 'TRANSACTIONAL' | 'WORKFLOW' | 'CAMPAIGN';
  declare templateId: string | null;
  declare campaignId: string | null;
  declare workflowId: string | null;
  declare executionId: string | null;
  declare stepVisit: number | null;
  declare priority: number;
  declare status: EmailStatus;
  declare reason: string | null;
  declare attempts: number;
  declare unknownOutcomes: number;
  declare dueAt: Date;
  declare attemptLog: unknown[] | null;
  declare providerMessageId: string | null;
  declare sentAt: Date | null;
  declare deliveredAt: Date | null;
  declare openedAt: Date | null;
  declare clickedAt: Date | null;
  declare bouncedAt: Date | null;
  declare complainedAt: Date | null;
  declare bounceType: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
}
