import { ApiError, validationError } from '../../platform/errors.ts';
import { createRetryJob } from '../../services/jobs/retry-executions.ts';
import { cancelAllExecutions, cancelExecution } from '../../services/workflows/executions/cancel.ts';
import { listFailureCauses } from '../../services/workflows/executions/failures.ts';
import { executionStatuses, findExecution, listExecutions } from '../../services/workflows/executions/find.ts';
import { listProjectExecutions } from '../../services/workflows/executions/list.ts';
import { migrateExecutions } from '../../services/workflows/executions/migrate.ts';
import { listStepProblems } from '../../services/workflows/executions/problems.ts';
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
  namedType,
  object,
  offsetPage,
  oneOf,
  optional,
  request,
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
import { queuedJobSchema } from '../presenters/job.ts';
import { offsetListSchema, presentOffsetList } from '../presenters/offset-list.ts';

const ofWorkflow = { id: uuid().description('Workflow ID.') };
const ofExecution = { ...ofWorkflow, executionId: uuid().description('Execution ID.') };
const status = () => optional(oneOf(...executionStatuses)).description('Only executions with this status.');
const contactId = () => optional(uuid()).description('Only executions of this contact.');
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
  const message = '"contactId" or "email" is required';
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
      workflowId: optional(uuid()).description('Only executions of this workflow.'),
      stepId: optional(uuid()).description('Only executions whose current or last step is this one.'),
      enteredStepId: optional(uuid()).description('Only executions that have entered this step. Needs `workflowId`.'),
      contactId: contactId(),
      status: status(),
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
    summary: 'List why executions failed, by workflow and error, most frequent first',
    access: 'secretKey',
    scope: 'workflows:read',
    query: { workflowId: optional(uuid()).description('Only executions of this workflow.') },
    answers: {
      200: answer(
        'Up to 100 causes of the newest 2,000 FAILED executions.',
        namedType('FailureReport', 'Why executions failed.', {
          data: list(
            namedType('FailureCause', 'FAILED executions of one workflow with the same error.', {
              workflowId: uuid().description('Workflow ID.'),
              workflowName: text({ min: 0 }).description('Name of the workflow.'),
              error: text({ min: 0 }).description('Error; empty if it is not known.'),
              count: wholeNumber({ min: 1 }).description('Number of executions.'),
              lastFailedAt: dateTime().description('When the last one failed.'),
            }),
          ).description('Causes, most frequent first.'),
          truncated: flag().description('Whether there may be more FAILED executions or causes than are reported.'),
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
    method: 'GET',
    path: '/executions/problems',
    heavy: 'read',
    summary: 'List steps where executions fail or are retried after an error',
    access: 'secretKey',
    scope: 'workflows:read',
    query: { workflowId: optional(uuid()).description('Only executions of this workflow.') },
    answers: {
      200: answer(
        'Up to 100 steps of the newest 2,000 RUNNING and the newest 2,000 FAILED executions.',
        namedType('StepProblemReport', 'Steps where executions fail or are retried after an error.', {
          data: list(
            namedType('StepProblem', 'A step where executions fail or are retried after an error.', {
              workflowId: uuid().description('Workflow ID.'),
              workflowName: text({ min: 0 }).description('Name of the workflow.'),
              stepId: uuid().description('Step ID.'),
              stepName: text({ min: 0 }).description('Name of the step.'),
              failed: wholeNumber({ min: 0 }).description(
                'Number of executions that failed at the step in the last 30 days and were not retried.',
              ),
              retrying: wholeNumber({ min: 0 }).description(
                'Number of executions at the step whose last attempt failed and that will be attempted again.',
              ),
              error: text({ min: 0 }).description('Newest error; empty if it is not known.'),
            }),
          ).description('Steps, those with most executions first.'),
          truncated: flag().description('Whether there may be more executions or steps than are reported.'),
        }),
      ),
    },
    handle: async ({ db, project, query }) => {
      const { problems, truncated } = await listStepProblems(db, project.projectId, query.workflowId);
      return ok({ data: problems, truncated });
    },
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions',
    summary: 'Start a workflow for a contact',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    body: request('StartExecutionRequest', 'The contact to start the workflow for.', {
      contactId: optional(uuid()).description('Contact ID. Required unless `email` is set.'),
      email: optional(email()).description('Email address of the contact; ignored if `contactId` is set.'),
      context: optional(contactData())
        .description('Variables of this execution; empty by default.')
        .example({ orderId: '4711' }),
    }),
    answers: {
      201: one,
      400: failure('The workflow is disabled.', 'BAD_REQUEST'),
      404: noWorkflow,
      409: failure('The contact is in the workflow already, or cannot enter it again.', 'CONFLICT'),
    },
    handle: async ({ db, project, params, body }) =>
      created(presentExecution(await startExecution(db, project, params.id, named(body)))),
  }),
  route({
    method: 'GET',
    path: '/workflows/:id/executions',
    summary: 'List executions of a workflow, newest first',
    access: 'secretKey',
    scope: 'workflows:read',
    params: ofWorkflow,
    query: { ...offsetPage(), status: status(), contactId: contactId() },
    answers: { 200: answer('A page of executions.', offsetListSchema(executionSchema)), 404: noWorkflow },
    handle: async ({ db, project, params, query }) =>
      ok(presentOffsetList(await listExecutions(db, project.projectId, params.id, query), presentExecution)),
  }),
  route({
    method: 'GET',
    path: '/workflows/:id/executions/:executionId',
    summary: 'Get an execution with its contact, workflow and steps',
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
    summary: 'Cancel an execution',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofExecution,
    answers: { 200: one, 404: noExecution, 409: failure('The execution has ended.', 'CONFLICT') },
    handle: async ({ db, project, params }) =>
      ok(presentExecution(await cancelExecution(db, project, params.id, params.executionId))),
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions/cancel-all',
    summary: 'Cancel all active executions of a workflow',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    answers: {
      200: answer(
        'The number of cancelled executions.',
        namedType('CancelledExecutions', 'The result of cancelling executions.', {
          cancelled: count().description('Number of executions that were cancelled.'),
        }),
      ),
      404: noWorkflow,
    },
    handle: async ({ db, project, params }) => ok({ cancelled: await cancelAllExecutions(db, project, params.id) }),
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions/retry-failed',
    summary: 'Retry the FAILED executions of a workflow from their failed step',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    body: request('RetryExecutionsRequest', 'Which FAILED executions to retry.', {
      error: optional(text({ max: MAX_ERROR })).description('Only executions with exactly this error; all by default.'),
    }),
    answers: {
      202: answer('The job is queued.', queuedJobSchema),
      404: noWorkflow,
      409: failure('The project has the maximum number of open jobs.', 'CONFLICT'),
    },
    handle: async ({ db, project, settings, params, body }) =>
      accepted({ jobId: await createRetryJob(db, project, params.id, body.error, settings.limits) }),
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions/migrate',
    summary: 'Move active executions to the newest valid version',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    answers: {
      200: answer(
        'The executions that moved and those that did not.',
        namedType('ExecutionMigration', 'The result of moving executions to another version.', {
          moved: list(uuid()).description('IDs of executions that moved, at most 1,000.'),
          stayed: list(
            object({
              id: uuid().description('Execution ID.'),
              reason: text().description('Why the execution did not move.'),
            }),
          ).description('Executions that remain on their version, at most 1,000.'),
          movedCount: count().description('Number of executions that moved.'),
          stayedCount: count().description('Number of executions that remain on their version.'),
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
    answers: { 200: one, 404: noExecution, 409: failure('The execution has not failed.', 'CONFLICT') },
    handle: async ({ db, project, params }) =>
      ok(presentExecution(await retryExecution(db, project, params.id, params.executionId))),
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/executions/:executionId/skip',
    summary: 'Skip the current wait of an execution, as if its time were over',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofExecution,
    answers: { 200: one, 404: noExecution, 409: failure('The execution is not waiting.', 'CONFLICT') },
    handle: async ({ db, project, params }) =>
      ok(presentExecution(await skipExecution(db, project, params.id, params.executionId))),
  }),
]);
