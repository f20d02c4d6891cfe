import { findJob, jobStatuses, jobTypes } from '../../services/jobs/find.ts';
import { listJobs } from '../../services/jobs/list.ts';
import { jobScopes } from '../../services/jobs/scopes.ts';
import { answer, missing, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { cursorPage, oneOf, optional, uuid } from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { jobSchema, presentJob, presentListedJob } from '../presenters/job.ts';

export const jobs = routes('Jobs', [
  route({
    method: 'GET',
    path: '/jobs',
    summary: 'List jobs, newest first, each with its first 20 errors',
    access: 'secretKey',
    scope: jobScopes('read'),
    query: {
      ...cursorPage(),
      type: optional(oneOf(...jobTypes)).description('Only jobs of this type.'),
      status: optional(oneOf(...jobStatuses)).description('Only jobs with this status.'),
    },
    answers: { 200: answer('A page of jobs.', cursorListSchema(jobSchema)) },
    handle: async ({ db, project, settings, query }) =>
      ok(presentCursorList(await listJobs(db, project, settings.secretKeys, query), presentListedJob)),
  }),
  route({
    method: 'GET',
    path: '/jobs/:jobId',
    summary: 'Get a job of any type',
    access: 'secretKey',
    scope: jobScopes('read'),
    params: { jobId: uuid().description('Job ID.') },
    answers: { 200: answer('The job.', jobSchema), 404: missing('job') },
    handle: async ({ db, project, params }) => ok(presentJob(await findJob(db, project, params.jobId))),
  }),
]);
