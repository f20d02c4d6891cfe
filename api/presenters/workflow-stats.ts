import joi from 'joi';
import type { executionResults, mailResults, StepStats } from '../../services/workflows/counts.ts';
import { stepTypeNames } from '../../services/workflows/graph.ts';
import { stepTypes } from '../../services/workflows/steps/index.ts';
import { conditionSchemas } from '../http/condition-schema.ts';
import { standaloneSchemaOf } from '../http/json-schema.ts';
import { list, namedType, nullable, object, oneOf, optional, record, text, wholeNumber } from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const count = () => wholeNumber({ min: 0 });

const emailCounts: Record<(typeof mailResults)[number], Typed<number>> = {
  sent: count().description('Number of emails sent.'),
  delivered: count().description('Number of emails delivered.'),
  opened: count().description('Number of emails opened, including automated opens.'),
  clicked: count().description('Number of emails in which a link was clicked, including automated clicks.'),
  peopleOpened: count().description('Number of emails that were opened or clicked by a person.'),
  humanClicked: count().description('Number of emails with a link clicked by a person.'),
  bounced: count().description('Number of emails that bounced.'),
  unsubscribed: count().description('Number of emails after which the recipient unsubscribed.'),
};

const stepStats = namedType('WorkflowStepStats', 'Statistics of a step.', {
  entered: count().description('Number of times an execution entered the step.'),
  waiting: count().description('Number of executions at the step now, regardless of the date range.'),
  passed: count().description('Number of times the step was completed.'),
  failed: count().description('Number of executions that failed at the step and were not retried.'),
  skipped: count().description('Number of times the step was skipped.'),
  medianSeconds: nullable(joi.number().min(0).required() as Typed<number>).description(
    'Median time from entering to completing the step, in seconds, to within 10%; null if it was never completed.',
  ),
  branches: (joi.object().pattern(joi.string(), count()).required() as Typed<Record<string, number>>)
    .description('Number of times each branch was taken, by its name; branches that were never taken are left out.')
    .example({ yes: 3, no: 1 }),
  mail: optional(object(emailCounts)).description('Results of the emails of the step; left out if there are none.'),
});

const executionCounts: Record<(typeof executionResults)[number] | 'started' | 'active', Typed<number>> = {
  started: count().description('Number of executions that started.'),
  active: count().description('Number of executions that are RUNNING or WAITING now, regardless of the date range.'),
  completed: count().description('Number of executions that completed.'),
  exited: count().description('Number of executions that ended at an EXIT step.'),
  failed: count().description('Number of executions that failed and were not retried.'),
  cancelled: count().description('Number of executions that were cancelled.'),
};

export const workflowStatsSchema = namedType('WorkflowStats', 'Statistics of a workflow and its steps.', {
  executions: object(executionCounts).description('Executions by status.'),
  steps: (
    joi.object().pattern(joi.string().guid(), stepStats).required() as Typed<Record<string, StepStats>>
  ).description('Statistics by step ID, for every step that was ever entered.'),
});

const stepTypeSchema = namedType('StepType', 'A type of workflow step.', {
  type: oneOf(...stepTypeNames).description('Step type.'),
  label: text().description('Display name; the default name of new steps.').example('Condition'),
  description: text().description('What the step does.'),
  exits: list(text())
    .description(
      'Branches that leave the step; `next` is the transition without a branch. Empty if `exitsFrom` is set.',
    )
    .example(['yes', 'no']),
  exitsFrom: nullable(text()).description('Path in the config that names the branches; null if they are fixed.'),
  waits: (joi.boolean().required() as Typed<boolean>).description(
    'Whether executions wait at the step, so that it can be part of a loop.',
  ),
  newConfig: record().description('Suggested config of a new step.').example({ method: 'POST' }),
  schema: record().description('JSON Schema of the config.'),
});

export const stepTypesSchema = namedType('StepTypeCatalog', 'The available step types.', {
  types: list(stepTypeSchema).description('Step types.'),
});

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export function presentStepTypes() {
  const types = stepTypeNames.map((name) => {
    const { type, label, description, exits, exitsOf, waits = false, config, newConfig = {}, schema } = stepTypes[name];
    return {
      type,
      label,
      description,
      exits,
      exitsFrom: exitsOf ? 'branches[].name' : null,
      waits,
      newConfig,
      schema: { $schema: DIALECT, ...(schema ?? standaloneSchemaOf(config, conditionSchemas)) },
    };
  });
  return { types };
}
