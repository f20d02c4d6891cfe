import type { MailDocument } from '../../platform/mail-document/index.ts';
import { BaseModel } from './base.ts';
import type { TemplateType } from './template.ts';

export const campaignStatuses = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

export const audienceTypes = ['ALL', 'SEGMENT', 'FILTERED'] as const;
export type AudienceType = (typeof audienceTypes)[number];

/** What happens to recipients whose clocks have shown the local time already. */
export const lateRules = ['NOW', 'NEXT_DAY', 'SKIP'] as const;
export type Late = (typeof lateRules)[number];

/** Whom of the recipients of a campaign a follow-up is for. */
export const followUpTargets = [
  'NOT_OPENED',
  'OPENED_NOT_CLICKED',
  'CLICKED',
  'NOT_CLICKED',
  'NOT_RECEIVED',
  'HOLDOUT',
] as const;
export type FollowUpTarget = (typeof followUpTargets)[number];

/** A mail to an audience. From the freeze on, its recipients are rows of `emails`. */
export class Campaign extends BaseModel {
  static override tableName = 'campaigns';
  static override jsonAttributes = ['audienceCondition', 'document'];

  declare id: string;
  declare projectId: string;
  declare name: string;
  declare description: string | null;
  declare subject: string;
  declare body: string;
  /** What the body was rendered from; null for a body that was written as HTML. */
  declare document: MailDocument | null;
  /** Null exactly when there is no document. */
  declare rendererVersion: number | null;
  /** The saved blocks that the document names. */
  declare savedBlockIds: string[];
  /** Rises with every change of the content, the audience or the rate. */
  declare revision: number;
  declare fromEmail: string;
  /** Spelled as domains are stored. */
  declare fromDomain: string | null;
  declare fromName: string | null;
  declare replyTo: string | null;
  declare type: TemplateType;
  declare status: CampaignStatus;
  declare audienceType: AudienceType;
  declare segmentId: string | null;
  declare audienceCondition: Record<string, unknown> | null;
  declare templateId: string | null;
  declare topicId: string | null;
  declare audienceCount: number;
  /** Of a follow-up: the campaign that it follows, the first of their chain, and whom it was made for. */
  declare followUpOf: string | null;
  declare chainId: string | null;
  declare followUpTo: FollowUpTarget | null;
  declare followUpLink: string | null;
  declare ratePerMinute: number | null;
  declare paused: boolean;
  declare pausedBy: 'USER' | 'AUTO_PAUSE' | 'BLOCKED' | null;
  declare pauseReason: string | null;
  /** Of a pause by USER: who did it. */
  declare pausedActorType: 'USER' | 'KEY' | 'SYSTEM' | null;
  declare pausedActorId: string | null;
  declare baselineSent: number;
  declare baselineRefused: number;
  declare baselineBounced: number;
  declare baselineComplained: number;
  declare generation: number;
  /** What is still pending then is skipped. */
  declare sendUntil: Date | null;
  /** What clocks of a recipient show when the email is sent: `2026-12-01T09:00`. */
  declare localTime: string | null;
  /** Null exactly when there is no local time. */
  declare late: Late | null;
  declare scheduledFor: Date | null;
  declare scheduledAt: Date | null;
  declare startedAt: Date | null;
  declare frozenAt: Date | null;
  declare sentAt: Date | null;
  declare cancelledAt: Date | null;
  declare deletedAt: Date | null;
  declare updatedAt: Date;
}
