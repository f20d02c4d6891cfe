import { namedType, uuid } from '../http/schemas.ts';

export const queuedJobSchema = namedType('QueuedJob', 'A job that was queued.', {
  jobId: uuid().description('Job ID.'),
});
