import { BaseModel } from './base.ts';

export const bulkTypes = ['BULK_SUBSCRIBE', 'BULK_UNSUBSCRIBE', 'BULK_DELETE'] as const;
export type BulkType = (typeof bulkTypes)[number];
export const importTypes = ['IMPORT', 'SUPPRESSION_IMPORT'] as const;
export type ImportType = (typeof importTypes)[number];
/** Of a workflow. */
export const retryTypes = ['RETRY_EXECUTIONS'] as const;
export const jobTypes = [...importTypes, ...bulkTypes, ...retryTypes] as const;
export type JobType = (typeof jobTypes)[number];
export const jobStatuses = ['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type JobStatus = (typeof jobStatuses)[number];

export interface ImportResult {
  /** Nothing is written; the counts say what would be. */
  dryRun?: boolean;
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

/** Background work on many contacts or executions, which a client polls. */
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
