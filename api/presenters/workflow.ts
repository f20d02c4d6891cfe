import joi from 'joi';
import type { Workflow } from '../../db/models/workflow.ts';
import { MAX_BRANCH_LENGTH, type StoredStep, stepTypeNames, type Transition } from '../../services/workflows/graph.ts';
import type { ListedWorkflow } from '../../services/workflows/list.ts';
import { hideStep } from '../../services/workflows/sealed-headers.ts';
import { stepTypeOf } from '../../services/workflows/steps/index.ts';
import { triggerTypes } from '../../services/workflows/trigger.ts';
import type { WorkflowDetails } from '../../services/workflows/workflow-details.ts';
import {
  dateTime,
  flag,
  list,
  namedType,
  nullable,
  oneOf,
  optional,
  record,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { documented } from '../http/violations.ts';

export const triggerConfig = () =>
  documented(
    namedType('TriggerConfig', 'Settings of the trigger. Those of other trigger types are ignored.', {
      eventName: optional(text({ max: 255 })).description(
        'For EVENT: name of the event that starts the workflow. Required to enable it.',
      ),
      cron: optional(text({ max: 255 })).description(
        'For SCHEDULE: cron expression with five fields. Required to enable the workflow.',
      ),
      timezone: optional(text({ max: 100 })).description('For SCHEDULE: IANA time zone; UTC by default.'),
      segmentId: optional(nullable(uuid())).description(
        'For SCHEDULE: ID of the segment whose members enter; null for all contacts.',
      ),
    }),
    { examples: [{ eventName: 'signed_up' }] },
  );

/** Fields of workflows and drafts. */
export const triggerShape = {
  triggerType: oneOf(...triggerTypes).description('What starts the workflow: an event, API calls only, or a schedule.'),
  triggerConfig: triggerConfig().description('Settings of the trigger.'),
  allowReentry: flag().description('Whether contacts can enter more than once, though never twice at the same time.'),
};

const shape = {
  id: uuid().description('Workflow ID.'),
  name: text().description('Name.'),
  description: nullable(text({ min: 0 })).description('Description; null if there is none.'),
  ...triggerShape,
  enabled: flag().description('Whether contacts can enter. Active executions continue while it is disabled.'),
  version: wholeNumber({ min: 1 }).description('Number of the newest version.'),
  projectId: uuid().description('Project ID.'),
  createdAt: dateTime().description('When the workflow was created.'),
  updatedAt: dateTime().description('When the workflow last changed.'),
};

export const workflowSchema = namedType('Workflow', 'A graph of steps that contacts pass through.', shape);

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

export const listedWorkflowSchema = namedType('ListedWorkflow', 'A workflow with its counts.', {
  ...shape,
  stepCount: count().description('Number of steps.'),
  activeExecutions: count().description('Number of executions that are RUNNING or WAITING.'),
});

export const presentListedWorkflow = ({ workflow, ...counts }: ListedWorkflow) => ({
  ...presentWorkflow(workflow),
  ...counts,
});

const coordinate = (): Typed<number> => joi.number().required();
export const position = () =>
  namedType('StepPosition', 'Where a step is drawn on the canvas.', {
    x: coordinate().description('Horizontal position.'),
    y: coordinate().description('Vertical position.'),
  });

/** Fields of steps that a draft or a version has too. */
export const stepShape = {
  id: uuid().description('Step ID, unique within the workflow.'),
  type: oneOf(...stepTypeNames).description('Step type. GET /workflows/step-types describes them.'),
  name: text().description('Name.'),
  position: position().description('Where the step is drawn on the canvas.'),
  config: record()
    .description('Settings of the step, which depend on its type. Header values of WEBHOOK steps may be masked.')
    .example({ amount: 1, unit: 'days' }),
};

export const stepSchema = namedType('WorkflowStep', 'A step of a workflow.', {
  ...stepShape,
  workflowId: uuid().description('Workflow ID.'),
  templateId: nullable(uuid()).description('ID of the template that the step sends; null if there is none.'),
  createdAt: dateTime().description('When the step was created.'),
  updatedAt: dateTime().description('When the step last changed.'),
});

/** `templateId` is the template in effect, from the config or the step's own field. */
export const presentStep = (workflowId: string, step: StoredStep) => ({
  id: step.id,
  workflowId,
  type: step.type,
  name: step.name,
  position: step.position,
  config: step.config,
  templateId: stepTypeOf(step).uses?.(step).templates?.[0] ?? step.templateId,
  createdAt: new Date(step.createdAt).toISOString(),
  updatedAt: new Date(step.updatedAt).toISOString(),
});

/** Fields of transitions that a draft or a version has too. */
export const transitionShape = {
  fromStepId: uuid().description('ID of the step that the transition leaves.'),
  toStepId: uuid().description('ID of the step that follows.'),
  branch: nullable(text({ max: MAX_BRANCH_LENGTH }))
    .description('Branch that the transition follows; null if it has none.')
    .example('yes'),
};

export const transitionSchema = namedType('WorkflowTransition', 'A connection of two steps.', {
  id: uuid().description('Transition ID.'),
  workflowId: uuid().description('Workflow ID.'),
  ...transitionShape,
});

export const presentTransition = (workflowId: string, { id, fromStepId, toStepId, branch }: Transition) => ({
  id,
  workflowId,
  fromStepId,
  toStepId,
  branch,
});

/** Fields of everything that can be checked. */
export const faultsShape = {
  valid: flag().description('Whether there are no faults.'),
  faults: list(
    namedType('WorkflowFault', 'A reason why a workflow cannot be enabled or published.', {
      stepId: nullable(uuid()).description('ID of the faulty step; null if the fault concerns the whole workflow.'),
      message: text().description('What is wrong.'),
    }),
  ).description('All faults.'),
};

export const wholeWorkflowSchema = namedType('WorkflowDetails', 'A workflow with its steps and transitions.', {
  ...shape,
  steps: list(stepSchema).description('Steps.'),
  transitions: list(transitionSchema).description('Transitions between the steps.'),
  ...faultsShape,
});

/** Without `showsHeaders` the values of the headers of webhooks are hidden. */
export const presentWholeWorkflow = (
  { workflow, steps, transitions, faults }: WorkflowDetails,
  showsHeaders: boolean,
) => ({
  ...presentWorkflow(workflow),
  steps: steps.map((step) => presentStep(workflow.id, showsHeaders ? step : hideStep(step))),
  transitions: transitions.map((transition) => presentTransition(workflow.id, transition)),
  valid: faults.length === 0,
  faults,
});
