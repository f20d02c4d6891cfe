import { BaseModel } from './base.ts';

export const bulkTypes = [
  'BULK_SUBSCRIBE',
  'BULK_UNSUBSCRIBE',
  'BULK_DELETE',
  'BULK_ADD_TO_SEGMENT',
  'BULK_SET_FIELD',
  'BULK_TOPIC_SUBSCRIBE',
  'BULK_TOPIC_UNSUBSCRIBE',
] as const;
export type BulkType = (typeof bulkTypes)[number];
export const importTypes = ['IMPORT', 'SUPPRESSION_IMPORT'] as const;
export type ImportType = (typeof importTypes)[number];
/** Of a workflow. */
export const retryTypes = ['RETRY_EXECUTIONS'] as const;
/** Of documents. */
export const renderTypes = ['RENDER'] as const;
/** Of a campaign. */
export const resendTypes = ['RESEND_RECIPIENTS'] as const;
export const jobTypes = [...importTypes, ...bulkTypes, ...retryTypes, ...renderTypes, ...resendTypes] as const;
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
  /** Rows that would subscribe a contact who left after consenting. Only of files with consent. */
  keptUnsubscribed?: number;
  errors: { row: number; email: string | null; error: string }[];
}

export interface BulkResult {
  /** The segment that the job fills, where it was made for it. */
  segmentId?: string;
  requested: number;
  changed: number;
  unchanged: number;
  failed: number;
  errors: { contactId: string; error: string }[];
}

export interface RenderResult {
  rendered: number;
  unchanged: number;
  /** Documents that can no longer be rendered; they stay as they are. */
  failed: number;
  errors: { type: 'TEMPLATE' | 'CAMPAIGN'; id: string; name: string; error: string }[];
}

/** Background work on many contacts, executions or documents, which a client polls. */
export class Job extends BaseModel {
  static override tableName = 'jobs';

  declare id: string;
  declare projectId: string;
  declare type: JobType;
  declare status: JobStatus;
  declare total: number;
  declare processed: number;
  declare result: ImportResult | BulkResult | RenderResult;
  declare failedReason: string | null;
  /** When it got one of its project's slots; null while it waits. */
  declare admittedAt: Date | null;
  declare startedAt: Date | null;
  declare completedAt: Date | null;
}

/** What a job works on, and where it continues. Deleted when the job ends. */
export class JobInputRow extends BaseModel {
  static override tableName = 'job_inputs';
  static override idColumn = 'jobId';
  static override jsonAttributes = ['options'];

  declare jobId: string;
  declare options: unknown;
  /** A bigint, which pg returns as text. */
  declare position: string;
  declare row: number;
  /** Size of the stored file. */
  declare bytes: number;
}

/** A part of a stored file, or of the contacts of a bulk job. */
export class JobChunk extends BaseModel {
  static override tableName = 'job_chunks';
  static override idColumn = ['jobId', 'number'];

  declare jobId: string;
  declare number: number;
  declare content: Buffer | null;
  declare contactIds: string[] | null;
}
