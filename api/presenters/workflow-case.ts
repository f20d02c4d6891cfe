import joi from 'joi';
import type { WorkflowCase } from '../../services/workflows/cases/cases.ts';
import type { CaseRun } from '../../services/workflows/cases/run.ts';
import { stepTypeNames } from '../../services/workflows/graph.ts';
import type { ScriptTime } from '../../services/workflows/spans.ts';
import { waitUnits } from '../../services/workflows/spans.ts';
import {
  dateTime,
  flag,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';

const shownTime = (): Typed<ScriptTime> =>
  joi
    .alternatives(joi.string().isoDate(), joi.number(), joi.object({ amount: joi.number(), unit: oneOf(...waitUnits) }))
    .required();

const visit = () => object({ stepId: text(), branch: optional(nullable(text())) });

export const caseSchema = object({
  id: uuid(),
  workflowId: uuid(),
  name: text(),
  contact: record(),
  context: nullable(record()),
  events: list(object({ at: optional(shownTime()), name: text(), data: optional(record()) })),
  startAt: dateTime(),
  until: optional(shownTime()),
  expect: list(visit()),
  createdAt: dateTime(),
  updatedAt: dateTime(),
});

export const presentCase = ({ id, workflowId, name, contact, context, events, expect, ...rest }: WorkflowCase) => ({
  ...{ id, workflowId, name, contact, context, events, expect },
  ...(rest.until !== null && { until: rest.until }),
  startAt: rest.startAt.toISOString(),
  createdAt: rest.createdAt.toISOString(),
  updatedAt: rest.updatedAt.toISOString(),
});

const nullableText = () => nullable(text({ min: 0 }));

export const caseRunSchema = object({
  passed: wholeNumber({ min: 0 }),
  failed: wholeNumber({ min: 0 }),
  results: list(
    object({
      caseId: uuid(),
      name: text(),
      passed: flag(),
      path: list(
        object({
          stepId: text(),
          type: oneOf(...stepTypeNames),
          name: text(),
          status: oneOf('COMPLETED', 'SKIPPED', 'FAILED', 'WAITING'),
          branch: nullableText(),
          reason: nullableText(),
          enteredAt: dateTime(),
          leftAt: nullable(dateTime()),
        }),
      ),
      difference: nullable(
        object({
          index: nullable(wholeNumber({ min: 0 })),
          expected: nullable(visit()),
          actual: nullable(visit()),
          message: text(),
        }),
      ),
    }),
  ),
});

export const presentCaseRun = ({ results, ...counts }: CaseRun) => ({
  ...counts,
  results: results.map(({ path, ...result }) => ({
    ...result,
    path: path.map(({ step, status, branch, reason, enteredAt, leftAt }) => ({
      ...{ stepId: step.id, type: step.type, name: step.name, status, branch, reason },
      ...{ enteredAt: enteredAt.toISOString(), leftAt: leftAt?.toISOString() ?? null },
    })),
  })),
});
