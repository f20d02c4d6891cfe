import type { Execution, ExecutionStep } from '../../db/models/execution.ts';
import { executionStatuses, type FoundExecution } from '../../services/workflows/executions/find.ts';
import type { ListedExecution } from '../../services/workflows/executions/list.ts';
import { stepTypeNames } from '../../services/workflows/graph.ts';
import { dateTime, list, namedType, nullable, oneOf, record, text, uuid, wholeNumber } from '../http/schemas.ts';
import { contactSchema, presentContact } from './contact.ts';
import { presentWorkflow, workflowSchema } from './workflow.ts';

const shape = {
  id: uuid().description('Execution ID.'),
  workflowId: uuid().description('Workflow ID.'),
  version: wholeNumber({ min: 1 }).description('Version of the workflow that the execution runs.'),
  contactId: uuid().description('Contact ID.'),
  status: oneOf(...executionStatuses).description(
    'Status. RUNNING and WAITING executions are active, the others have ended.',
  ),
  currentStepId: nullable(uuid()).description(
    'ID of the current step, or of the last one if the execution has ended; null before the first step.',
  ),
  exitReason: nullable(text({ min: 0 })).description(
    'Why the execution was ended early, by an EXIT step or a cancellation; null if no reason was given.',
  ),
  error: nullable(text({ min: 0 })).description('Why the execution failed; null if it did not.'),
  context: record().description('Variables of this execution.').example({ orderId: '4711' }),
  startedAt: dateTime().description('When the execution started.'),
  completedAt: nullable(dateTime()).description('When the execution ended; null while it is active.'),
  createdAt: dateTime().description('When the execution was created.'),
  updatedAt: dateTime().description('When the execution last changed.'),
};

export const executionSchema = namedType('Execution', 'The run of a workflow for one contact.', shape);

export const presentExecution = (execution: Execution) => ({
  id: execution.id,
  workflowId: execution.workflowId,
  version: execution.version,
  contactId: execution.contactId,
  status: execution.status,
  currentStepId: execution.currentStepId,
  exitReason: execution.exitReason,
  error: execution.error,
  context: execution.context,
  startedAt: execution.startedAt.toISOString(),
  completedAt: execution.completedAt?.toISOString() ?? null,
  createdAt: execution.createdAt.toISOString(),
  updatedAt: execution.updatedAt.toISOString(),
});

export const listedExecutionSchema = namedType('ListedExecution', 'An execution with names for display.', {
  ...shape,
  workflowName: text({ min: 0 }).description('Name of the workflow.'),
  contactEmail: nullable(text()).description('Email address of the contact; null if the contact was deleted.'),
  currentStepName: nullable(text({ min: 0 })).description(
    'Name of the step that `currentStepId` refers to; null if there is none.',
  ),
});

export const presentListedExecution = ({ execution, ...names }: ListedExecution) => ({
  ...presentExecution(execution),
  ...names,
});

const stepSchema = namedType('ExecutionStep', 'A step that an execution has taken.', {
  id: uuid().description('ID of this visit of the step.'),
  stepId: uuid().description('Step ID.'),
  type: oneOf(...stepTypeNames).description('Step type.'),
  name: text().description('Step name.'),
  status: oneOf('RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED', 'CANCELLED').description('Status of the step.'),
  branch: nullable(text()).description('Branch that was taken; null if there is none.').example('yes'),
  output: nullable(record())
    .description('Output of the step, which depends on its type; null if there is none.')
    .example({ emailId: '01928c7e-0000-7000-8000-000000000002' }),
  error: nullable(text({ min: 0 })).description('Why the step, or the last attempt of a WEBHOOK step, failed.'),
  attempt: wholeNumber({ min: 1 }).description('Number of the attempt, from 1.'),
  scheduledFor: nullable(dateTime()).description('When a wait ends or was due to end; null if nothing is scheduled.'),
  startedAt: dateTime().description('When the step started.'),
  completedAt: nullable(dateTime()).description('When the step ended; null while it is RUNNING or WAITING.'),
});

const presentExecutionStep = (step: ExecutionStep) => ({
  id: step.id,
  stepId: step.stepId,
  type: step.type,
  name: step.name,
  status: step.status,
  branch: step.branch,
  output: step.output,
  error: step.error,
  attempt: step.attempt,
  scheduledFor: step.scheduledFor?.toISOString() ?? null,
  startedAt: step.startedAt.toISOString(),
  completedAt: step.completedAt?.toISOString() ?? null,
});

export const wholeExecutionSchema = namedType(
  'ExecutionDetails',
  'An execution with its contact, its workflow and the steps it has taken.',
  {
    ...shape,
    contact: nullable(contactSchema).description('The contact; null if it was deleted.'),
    workflow: workflowSchema.description('The workflow.'),
    steps: list(stepSchema).description('The steps, in the order they were taken.'),
  },
);

export const presentWholeExecution = ({ execution, contact, workflow, steps }: FoundExecution) => ({
  ...presentExecution(execution),
  contact: contact && presentContact(contact),
  workflow: presentWorkflow(workflow),
  steps: steps.map(presentExecutionStep),
});
