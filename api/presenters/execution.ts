import type { Execution, ExecutionStep } from '../../db/models/execution.ts';
import { executionStatuses, type FoundExecution } from '../../services/workflows/executions/find.ts';
import type { ListedExecution } from '../../services/workflows/executions/list.ts';
import { stepTypeNames } from '../../services/workflows/graph.ts';
import { dateTime, list, nullable, object, oneOf, record, text, uuid, wholeNumber } from '../http/schemas.ts';
import { contactSchema, presentContact } from './contact.ts';
import { presentWorkflow, workflowSchema } from './workflow.ts';

const shape = {
  id: uuid(),
  workflowId: uuid(),
  version: wholeNumber({ min: 1 }),
  contactId: uuid(),
  status: oneOf(...executionStatuses),
  currentStepId: nullable(uuid()),
  exitReason: nullable(text({ min: 0 })),
  error: nullable(text({ min: 0 })),
  context: record(),
  startedAt: dateTime(),
  completedAt: nullable(dateTime()),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};

export const executionSchema = object(shape);

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

export const listedExecutionSchema = object({
  ...shape,
  workflowName: text({ min: 0 }),
  contactEmail: nullable(text()),
  currentStepName: nullable(text({ min: 0 })),
});

export const presentListedExecution = ({ execution, ...names }: ListedExecution) => ({
  ...presentExecution(execution),
  ...names,
});

const stepSchema = object({
  id: uuid(),
  stepId: uuid(),
  type: oneOf(...stepTypeNames),
  name: text(),
  status: oneOf('RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED', 'CANCELLED'),
  branch: nullable(text()),
  output: nullable(record()),
  error: nullable(text({ min: 0 })),
  attempt: wholeNumber({ min: 1 }),
  scheduledFor: nullable(dateTime()),
  startedAt: dateTime(),
  completedAt: nullable(dateTime()),
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

export const wholeExecutionSchema = object({
  ...shape,
  contact: nullable(contactSchema),
  workflow: workflowSchema,
  steps: list(stepSchema),
});

export const presentWholeExecution = ({ execution, contact, workflow, steps }: FoundExecution) => ({
  ...presentExecution(execution),
  contact: contact && presentContact(contact),
  workflow: presentWorkflow(workflow),
  steps: steps.map(presentExecutionStep),
});
