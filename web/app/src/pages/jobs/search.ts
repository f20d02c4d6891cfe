import type { Job } from '../../api/types.ts';
import { compact, oneOf, type RawSearch } from '../../search-params.ts';

export const jobTypes = [
  'IMPORT',
  'SUPPRESSION_IMPORT',
  'BULK_SUBSCRIBE',
  'BULK_UNSUBSCRIBE',
  'BULK_DELETE',
  'BULK_ADD_TO_SEGMENT',
  'BULK_SET_FIELD',
  'BULK_TOPIC_SUBSCRIBE',
  'BULK_TOPIC_UNSUBSCRIBE',
  'RESEND_RECIPIENTS',
  'RETRY_EXECUTIONS',
  'RENDER',
] as const satisfies Job['type'][];

export const jobStatuses = ['QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const satisfies Job['status'][];

export interface JobsSearch {
  type?: Job['type'] | undefined;
  status?: Job['status'] | undefined;
}

export const jobsSearch = (raw: RawSearch): JobsSearch =>
  compact({ type: oneOf(raw.type, ...jobTypes), status: oneOf(raw.status, ...jobStatuses) });
