import { BaseModel } from './base.ts';

export const topicKinds = ['MARKETING', 'NOTIFICATION'] as const;
export type TopicKind = (typeof topicKinds)[number];
export const topicDefaults = ['SUBSCRIBED', 'UNSUBSCRIBED'] as const;
export type TopicDefault = (typeof topicDefaults)[number];
export const topicStates = [...topicDefaults, 'PENDING'] as const;
export type TopicState = (typeof topicStates)[number];
export const topicVisibilities = ['PUBLIC', 'PRIVATE'] as const;
export type TopicVisibility = (typeof topicVisibilities)[number];

/** How SUBSCRIBED is confirmed; every field has a default. */
export interface TopicConfirmation {
  templateId: string | null;
  from: string | null;
  fromName: string | null;
  reminderAfterHours: number | null;
  expiresAfterHours: number;
}

export interface TopicTranslation {
  name?: string | undefined;
  description?: string | undefined;
  consentText?: string | undefined;
}

/** What contacts can join and leave. */
export class Topic extends BaseModel {
  static override tableName = 'topics';
  static override jsonAttributes = ['confirmation', 'translations'];

  declare id: string;
  declare projectId: string;
  declare key: string;
  declare name: string;
  declare description: string;
  declare kind: TopicKind;
  declare defaultState: TopicDefault;
  declare visibility: TopicVisibility;
  declare doubleOptIn: boolean;
  declare confirmation: TopicConfirmation | null;
  declare consentText: string;
  declare translations: Record<string, TopicTranslation>;
  declare position: number;
  declare archived: boolean;
  declare updatedAt: Date;
}
