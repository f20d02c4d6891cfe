import joi from 'joi';
import type { Workflow, WorkflowStep, WorkflowTransition } from '../../db/models/workflow.ts';
import { asStep } from '../../services/workflows/find.ts';
import { MAX_BRANCH_LENGTH, stepTypeNames } from '../../services/workflows/graph.ts';
import type { ListedWorkflow } from '../../services/workflows/list.ts';
import { hideStep } from '../../services/workflows/sealed-headers.ts';
import { stepTypeOf } from '../../services/workflows/steps/index.ts';
import { triggerTypes } from '../../services/workflows/trigger.ts';
import type { WorkflowDetails } from '../../services/workflows/workflow-details.ts';
import { dateTime, flag, list, nullable, object, oneOf, record, text, uuid, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const shape = {
  id: uuid(),
  name: text(),
  description: nullable(text({ min: 0 })),
  triggerType: oneOf(...triggerTypes),
  triggerConfig: record(),
  enabled: flag(),
  allowReentry: flag(),
  version: wholeNumber({ min: 1 }),
  projectId: uuid(),
  createdAt: dateTime(),
  updatedAt: dateTime(),
};

export const workflowSchema = object(shape);

export const presentWorkflow = (workflow: Workflow) => ({
  id: workflow.id,
  name: workflow.name,
  description: workflow.description,
  triggerType: workflow.triggerType,
  triggerConfig: workflow.triggerConfig,
  enabled: workflow.enabled,
  allowReentry: workflow.allowReentry,
  version: workflow.version,
  projectId: workflow.projectId,
  createdAt: workflow.createdAt.toISOString(),
  updatedAt: workflow.updatedAt.toISOString(),
});

const count = () => wholeNumber({ min: 0 });

export const listedWorkflowSchema = object({ ...shape, stepCount: count(), activeExecutions: count() });

export const presentListedWorkflow = ({ workflow, ...counts }: ListedWorkflow) => ({
  ...presentWorkflow(workflow),
  ...counts,
});

const coordinate = (): Typed<number> => joi.number().required();
export const position = () => object({ x: coordinate(), y: coordinate() });

export const stepSchema = object({
  id: uuid(),
  workflowId: uuid(),
  type: oneOf(...stepTypeNames),
  name: text(),
  position: position(),
  config: record(),
  templateId: nullable(uuid()),
  createdAt: dateTime(),
  updatedAt: dateTime(),
});

/** `templateId` is the template in effect, from the config or the step's own field. */
export const presentStep = (step: WorkflowStep) => ({
  id: step.id,
  workflowId: step.workflowId,
  type: step.type,
  name: step.name,
  position: step.position,
  config: step.config,
  templateId: stepTypeOf(step).uses?.(asStep(step)).templates?.[0] ?? step.templateId,
  createdAt: step.createdAt.toISOString(),
  updatedAt: step.updatedAt.toISOString(),
});

export const transitionSchema = object({
  id: uuid(),
  workflowId: uuid(),
  fromStepId: uuid(),
  toStepId: uuid(),
  branch: nullable(text({ max: MAX_BRANCH_LENGTH })),
});

export const presentTransition = ({ id, workflowId, fromStepId, toStepId, branch }: WorkflowTransition) => ({
  id,
  workflowId,
  fromStepId,
  toStepId,
  branch,
});

export const wholeWorkflowSchema = object({
  ...shape,
  steps: list(stepSchema),
  transitions: list(transitionSchema),
  valid: flag(),
  faults: list(object({ stepId: nullable(uuid()), message: text() })),
});

/** Without `showsHeaders` the values of the headers of webhooks are hidden. */
export const presentWholeWorkflow = (
  { workflow, steps, transitions, faults }: WorkflowDetails,
  showsHeaders: boolean,
) => ({
  ...presentWorkflow(workflow),
  steps: steps.map((step) => presentStep(showsHeaders ? step : hideStep(step))),
  transitions: transitions.map(presentTransition),
  valid: faults.length === 0,
  faults,
});
