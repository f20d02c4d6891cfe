import { ApiError, validationError } from '../../platform/errors.ts';
import { createRetryJob } from '../../services/jobs/retry-executions.ts';
import { cancelAllExecutions, cancelExecution } from '../../services/workflows/executions/cancel.ts';
import { listFailureCauses } from '../../services/workflows/executions/failures.ts';
import { executionStatuses, findExecution, listExecutions } from '../../services/workflows/executions/find.ts';
import { listProjectExecutions } from '../../services/workflows/executions/list.ts';
import { migrateExecutions } from '../../services/workflows/executions/migrate.ts';
import { retryExecution } from '../../services/workflows/executions/retry.ts';
import { skipExecution } from '../../services/workflows/executions/skip.ts';
import { startExecution } from '../../services/workflows/executions/start.ts';
import { accepted, answer, created, failure, missing, ok } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import { route, routes } from '../http/route.ts';
import {
  cursorPage,
  dateTime,
  email,
  flag,
  list,
  object,
  offsetPage,
  oneOf,
  optional,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import {
  executionSchema,
  listedExecutionSchema,
  presentExecution,
  presentListedExecution,
  presentWholeExecution,
  wholeExecutionSchema,
} from '../presenters/execution.ts';
import { offsetListSchema, presentOffsetList } from '../presenters/offset-list.ts';

const ofWorkflow = { id: uuid() };
const ofExecution = { id: uuid(), executionId: uuid() };
const one = answer('The execution.', executionSchema);
const noWorkflow = missing('workflow', 'WORKFLOW_NOT_FOUND');
const noExecution = missing('execution');
const count = () => wholeNumber({ min: 0 });
const MAX_ERROR = 10_000;

interface Who {
  contactId?: string | undefined;
  email?: string | undefined;
}

/** Requires one of the two to name the contact. */
function named<B extends Who>(body: B): B {
  if (body.contactId !== undefined || body.email !== undefined) return body;
  const message = '"contactId" is required, or "email" instead';
  throw validationError([{ field: 'contactId', message, code: 'required' }]);
}

export const executions = routes('Executions', [
  route({
    method: 'GET',
    path: '/executions',
    heavy: 'read',
    summary: 'List the executions of all workflows, newest first',
    access: 'secretKey',
    scope: 'workflows:read',
    query: {
      ...cursorPage(),
      workflowId: optional(uuid()),
      stepId: optional(uuid()),
      enteredStepId: optional(uuid()),
      contactId: optional(uuid()),
      status: optional(oneOf(...executionStatuses)),
    },
    answers: { 200: answer('A page of executions.', cursorListSchema(listedExecutionSchema)) },
    handle: async ({ db, project, settings, query }) => {
      // Ids of steps are unique within a workflow only.
      if (query.enteredStepId !== undefined && query.workflowId === undefined)
        throw new ApiError(400, 'BAD_REQUEST', '"workflowId" is required with "enteredStepId".');
      const page = await listProjectExecutions(db, project.projectId, settings.secretKeys, query);
      return ok(presentCursorList(page, presentListedExecution));
    },
  }),
  route({
    method: 'GET',
    path: '/executions/failures',
    heavy: 'read',
    summary: 'List why executions have failed: FAILED executions by workflow and error, the most frequent first',
    access: 'secretKey',
    scope: 'workflows:read',
    query: { workflowId: optional(uuid()) },
    answers: {
      200: answer(
        'The causes, at most a hundred, of the newest two thousand FAILED executions.',
        object({
          data: list(
            object({
              workflowId: uuid(),
              workflowName: text({ min: 0 }),
              error: text({ min: 0 }),
              count: wholeNumber({ min: 1 }),
              lastFailedAt: dateTime(),
            }),
          ),
          /** There is more than was read. */
          truncated: flag(),
        }),
      ),
    },
    handle: async ({ db, project, query }) => {
      const { causes, truncated } = await listFailureCauses(db, project.projectId, query.workflowId);
      const data = causes.map((cause) => ({ ...cause, lastFailedAt: cause.lastFailedAt.toISOString() }));
      return ok({ data, truncated });
    },
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions',
    summary: 'Start a workflow for a contact',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    body: { contactId: optional(uuid()), email: optional(email()), context: optional(contactData()) },
    answers: {
      201: one,
      400: failure('The workflow is disabled.', 'BAD_REQUEST'),
      404: noWorkflow,
      409: failure('The contact may not enter, or not re-enter yet.', 'CONFLICT'),
    },
    handle: async ({ db, project, params, body }) =>
      created(presentExecution(await startExecution(db, project, params.id, named(body)))),
  }),
  route({
    method: 'GET',
    path: '/workflows/:id/executions',
    summary: 'List executions, newest first, filtered by status and contact',
    access: 'secretKey',
    scope: 'workflows:read',
    params: ofWorkflow,
    query: { ...offsetPage(), status: optional(oneOf(...executionStatuses)), contactId: optional(uuid()) },
    answers: { 200: answer('A page of executions.', offsetListSchema(executionSchema)), 404: noWorkflow },
    handle: async ({ db, project, params, query }) =>
      ok(presentOffsetList(await listExecutions(db, project.projectId, params.id, query), presentExecution)),
  }),
  route({
    method: 'GET',
    path: '/workflows/:id/executions/:executionId',
    summary: 'Get an execution with its contact, its workflow and the steps taken',
    access: 'secretKey',
    scope: 'workflows:read',
    params: ofExecution,
    answers: { 200: answer('The execution.', wholeExecutionSchema), 404: noExecution },
    handle: async ({ db, project, params }) =>
      ok(presentWholeExecution(await findExecution(db, project.projectId, params.id, params.executionId))),
  }),
  route({
    method: 'DELETE',
    path: '/workflows/:id/executions/:executionId',
    summary: 'Cancel an execution; it takes no further step',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofExecution,
    answers: { 200: one, 404: noExecution, 409: failure('It has ended.', 'CONFLICT') },
    handle: async ({ db, project, params }) =>
      ok(presentExecution(await cancelExecution(db, project, params.id, params.executionId))),
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions/cancel-all',
    summary: 'Cancel every active execution of a workflow',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    answers: { 200: answer('The number of cancelled executions.', object({ cancelled: count() })), 404: noWorkflow },
    handle: async ({ db, project, params }) => ok({ cancelled: await cancelAllExecutions(db, project, params.id) }),
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions/retry-failed',
    summary: 'Retry the FAILED executions of a workflow from their failed step: all, or those with this error',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    body: { error: optional(text({ max: MAX_ERROR })) },
    answers: {
      202: answer('The job is queued.', object({ jobId: uuid() })),
      404: noWorkflow,
      409: failure('The project has the maximum number of open jobs.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, params, body }) =>
      accepted({ jobId: await createRetryJob(db, project, params.id, body.error, settings.limits) }),
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions/migrate',
    summary: 'Move active executions to the newest valid version, where it has their step with the same type',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    answers: {
      200: answer(
        'Which were moved and which stayed; the first thousand of each.',
        object({
          moved: list(uuid()),
          stayed: list(object({ id: uuid(), reason: text() })),
          movedCount: count(),
          stayedCount: count(),
        }),
      ),
      404: noWorkflow,
    },
    handle: async ({ db, project, settings, params }) =>
      ok(await migrateExecutions(db, project, params.id, settings.secretKeys)),
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions/:executionId/retry',
    summary: 'Retry the failed step of a FAILED execution and continue',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofExecution,
    answers: { 200: one, 404: noExecution, 409: failure('It has not failed.', 'CONFLICT') },
    handle: async ({ db, project, params }) =>
      ok(presentExecution(await retryExecution(db, project, params.id, params.executionId))),
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions/:executionId/skip',
    summary: 'End a DELAY now, or a wait as if it had timed out',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofExecution,
    answers: { 200: one, 404: noExecution, 409: failure('It is not waiting.', 'CONFLICT') },
    handle: async ({ db, project, params }) =>
      ok(presentExecution(await skipExecution(db, project, params.id, params.executionId))),
  }),
]);
