import { type Job, type JobType, jobTypes } from '../../db/models/job.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { hasScope, requireScope, type Scope } from '../access/scopes.ts';

type Right = 'read' | 'write';

/** What each type of job works on. A key needs the scope of it. */
const resources = {
  IMPORT: 'contacts',
  SUPPRESSION_IMPORT: 'send',
  BULK_SUBSCRIBE: 'contacts',
  BULK_UNSUBSCRIBE: 'contacts',
  BULK_DELETE: 'contacts',
  BULK_ADD_TO_SEGMENT: 'contacts',
  BULK_SET_FIELD: 'contacts',
  BULK_TOPIC_SUBSCRIBE: 'contacts',
  BULK_TOPIC_UNSUBSCRIBE: 'contacts',
  RETRY_EXECUTIONS: 'workflows',
  RENDER: 'templates',
  RESEND_RECIPIENTS: 'campaigns',
} as const satisfies Record<JobType, string>;

const scopeOf = (type: JobType, right: Right): Scope => `${resources[type]}:${right}`;

/** Returns the scopes of these types, for routes that take jobs of each. */
export const jobScopes = (right: Right, types: readonly JobType[] = jobTypes): Scope[] => [
  ...new Set(types.map((type) => scopeOf(type, right))),
];

/** Rejects with 403 a key without the scope of the job. */
export const requireJobScope = (caller: Pick<ProjectAccess, 'key'>, { type }: Job, right: Right): void =>
  requireScope(caller, scopeOf(type, right));

export const readableJobTypes = (caller: Pick<ProjectAccess, 'key'>): JobType[] =>
  jobTypes.filter((type) => hasScope(caller, scopeOf(type, 'read')));
