import { BaseModel } from './base.ts';

export const bulkTypes = ['BULK_SUBSCRIBE', 'BULK_UNSUBSCRIBE', 'BULK_DELETE'] as const;
export type BulkType = (typeof bulkTypes)[number];
export type JobType = 'IMPORT' | BulkType;
export type JobStatus = 'QUEUED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED';

export interface ImportResult {
  totalRows: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  errors: { row: number; email: string | null; error: string }[];
}

export interface BulkResult {
  requested: number;
  changed: number;
  unchanged: number;
  failed: number;
  errors: { contactId: string; error: string }[];
}

/** Background work on many contacts, which a client polls. */
export class Job extends BaseModel {
  static override tableName = 'jobs';

  declare id: string;
  declare projectId: string;
  declare type: JobType;
  declare status: JobStatus;
  declare total: number;
  declare processed: number;
  declare result: ImportResult | BulkResult;
  declare failedReason: string | null;
  /** When it got one of its project's slots; null while it waits. */
  declare admittedAt: Date | null;
  declare startedAt: Date | null;
  declare completedAt: Date | null;
}
