import { BaseModel } from './base.ts';

/** What the last look at a record found. */
export interface RecordCheck {
  status: 'MISSING' | 'FOUND' | 'MISMATCH';
  found: string | null;
  /** Why it could not be asked about the last time; then the rest is what was known before. */
  error?: string;
}

export class Domain extends BaseModel {
  static override tableName = 'domains';
  static override jsonAttributes = ['checks'];

  declare id: string;
  declare projectId: string;
  declare domain: string;
  declare status: 'PENDING' | 'VERIFIED';
  declare managed: boolean;
  declare generation: number;
  declare loopStartedAt: Date;
  declare failedChecks: number;
  declare checks: Record<string, RecordCheck>;
  declare verifiedAt: Date | null;
  /** Whether it has been verified at any time. */
  declare everVerified: boolean;
  /** When the members were told that it will be removed. */
  declare removalWarnedAt: Date | null;
  declare lastCheckedAt: Date | null;
  declare updatedAt: Date;
}
