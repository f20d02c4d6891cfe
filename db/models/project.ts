import type { ModelObject } from 'objection';
import { BaseModel } from './base.ts';

export class Project extends BaseModel {
  static override tableName = 'projects';

  declare id: string;
  declare name: string;
  declare publicKey: string;
  declare secretKeyHash: Buffer;
  declare keyGeneration: number;
  declare tracking: 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY';
  declare language: string;
  /** IANA name. */
  declare timezone: string;
  declare disabled: boolean;
  declare disabledReason: string | null;
  declare publicKeyEvents: string[];
  declare publicKeyOrigins: string[];
  declare billingCapped: boolean;
  declare cappedSources: string[];
  declare enabledAt: Date | null;
  declare deletedAt: Date | null;
  declare updatedAt: Date;
  declare requireTwoFactor: boolean;
  /** Whether the log has successful requests of keys too. */
  declare logRequests: boolean;
  /** MARKETING and HEADLESS email needs a topic. */
  declare topicRequired: boolean;
  /** A form with topics has switched it on once, or a person has set it. */
  declare topicRequiredDecided: boolean;
}

/** A row as statements return it. */
export type ProjectRow = ModelObject<Project>;
