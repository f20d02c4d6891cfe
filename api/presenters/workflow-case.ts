import type { WorkflowCase } from '../../services/workflows/cases/cases.ts';
import type { CaseRun } from '../../services/workflows/cases/run.ts';
import { stepTypeNames } from '../../services/workflows/graph.ts';
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
import { caseEvent, expectedStep, simulatedTime } from '../http/workflow-schemas.ts';

export const caseSchema = namedType('WorkflowCase', 'A saved simulation with the path it is expected to take.', {
  id: uuid().description('Case ID.'),
  workflowId: uuid().description('Workflow ID.'),
  name: text().description('Name.'),
  contact: record()
    .description('The simulated contact, as it was sent.')
    .example({ email: 'ann@example.com', data: { plan: 'pro' } }),
  context: nullable(record()).description(
    'Variables of the execution; null to use the data of the event that starts the workflow.',
  ),
  events: list(caseEvent()).description('Events that happen during the simulation.'),
  startAt: dateTime().description('When the simulation starts.'),
  until: optional(simulatedTime()).description('When the simulation ends; left out if not set.'),
  expect: list(expectedStep()).description('The steps of the expected path, in order.'),
  createdAt: dateTime().description('When the case was created.'),
  updatedAt: dateTime().description('When the case last changed.'),
});

export const presentCase = ({ id, workflowId, name, contact, context, events, expect, ...rest }: WorkflowCase) => ({
  id,
  workflowId,
  name,
  contact,
  context,
  events,
  expect,
  ...(rest.until !== null && { until: rest.until }),
  startAt: rest.startAt.toISOString(),
  createdAt: rest.createdAt.toISOString(),
  updatedAt: rest.updatedAt.toISOString(),
});

const nullableText = () => nullable(text({ min: 0 }));

const pathStep = namedType('PathStep', 'A step of a path.', {
  stepId: text().description('Step ID.'),
  branch: optional(nullable(text())).description('Branch; null if there is none.').example('yes'),
});

const difference = namedType('WorkflowCaseDifference', 'The first difference from the expected path.', {
  index: nullable(wholeNumber({ min: 0 })).description(
    'Position in the path, from 0; null if the case could not be run.',
  ),
  expected: nullable(pathStep).description('The expected step; null if the path should have ended.'),
  actual: nullable(pathStep).description('The step that was taken; null if the path ended.'),
  message: text().description('Explanation of the difference.'),
});

const takenStep = namedType('WorkflowCaseStep', 'A step that was taken in the run of a case.', {
  stepId: text().description('Step ID.'),
  type: oneOf(...stepTypeNames).description('Step type.'),
  name: text().description('Step name.'),
  status: oneOf('COMPLETED', 'SKIPPED', 'FAILED', 'WAITING').description('Result of the step.'),
  branch: nullableText().description('Branch that was taken; null if there is none.').example('yes'),
  reason: nullableText().description('Why the step had this result; null if there is nothing to explain.'),
  enteredAt: dateTime().description('Simulated time when the step was entered.'),
  leftAt: nullable(dateTime()).description('Simulated time when the step was left; null if it was not.'),
});

export const caseRunSchema = namedType('WorkflowCaseRun', 'The results of cases.', {
  passed: wholeNumber({ min: 0 }).description('Number of cases that passed.'),
  failed: wholeNumber({ min: 0 }).description('Number of cases that failed.'),
  results: list(
    namedType('WorkflowCaseResult', 'The result of a case.', {
      caseId: uuid().description('Case ID.'),
      name: text().description('Name of the case.'),
      passed: flag().description('Whether the case took the expected path.'),
      path: list(takenStep).description('The steps that were taken, in order.'),
      difference: nullable(difference).description('The first difference from the expected path; null if it passed.'),
    }),
  ).description('One result per case.'),
});

export const presentCaseRun = ({ results, ...counts }: CaseRun) => ({
  ...counts,
  results: results.map(({ path, ...result }) => ({
    ...result,
    path: path.map(({ step, status, branch, reason, enteredAt, leftAt }) => ({
      stepId: step.id,
      type: step.type,
      name: step.name,
      status,
      branch,
      reason,
      enteredAt: enteredAt.toISOString(),
      leftAt: leftAt?.toISOString() ?? null,
    })),
  })),
});
