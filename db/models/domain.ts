import { BaseModel } from './base.ts';

/** The result of the last check of a DNS record. */
export interface RecordCheck {
  status: 'MISSING' | 'FOUND' | 'MISMATCH';
  found: string | null;
  /** Why the last query failed; then the other fields are those of the check before. */
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
  /** Stays true when the domain loses its verification. */
  declare everVerified: boolean;
  /** When the members were warned that it will be removed. */
  declare removalWarnedAt: Date | null;
  declare lastCheckedAt: Date | null;
  declare updatedAt: Date;
}
