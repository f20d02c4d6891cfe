import joi from 'joi';
import { branchOf, MAX_BRANCH_LENGTH, stepTypeNames } from '../../services/workflows/graph.ts';
import { spanKeys, type WaitSpan } from '../../services/workflows/spans.ts';
import { position } from '../presenters/workflow.ts';
import { contactData } from './contact-data.ts';
import {
  dateTime,
  email,
  flag,
  list,
  nullable,
  object,
  objectOr,
  oneOf,
  optional,
  record,
  text,
  textOr,
  uuid,
} from './schemas.ts';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

// Parts of requests that several routes of workflows share.

const MAX_STEPS = 500;

export const branch = () => nullable(text({ max: MAX_BRANCH_LENGTH }));

export const triggerConfig = () =>
  object({
    eventName: optional(text({ max: 255 })),
    cron: optional(text({ max: 255 })),
    timezone: optional(text({ max: 100 })),
    segmentId: optional(nullable(uuid())),
  });

/** A list that may be empty. */
export const any = <T>(item: Typed<T>, max: number): Typed<T[]> => list(item.optional() as Typed<T>, { max });

const [FIRST, SECOND] = ['01928c7e-0000-7000-8000-000000000002', '01928c7e-0000-7000-8000-000000000003'];
const EXAMPLE_GRAPH = {
  steps: [
    { id: FIRST, type: 'DELAY', name: 'A day later', config: { amount: 1, unit: 'days' } },
    { id: SECOND, type: 'EXIT', name: 'End', config: {} },
  ],
  transitions: [{ fromStepId: FIRST, toStepId: SECOND }],
};

/** A graph that is not stored yet, with ids of the client. */
export const givenGraph = (id: Typed<string>) => documented(graphOf(id), { examples: [EXAMPLE_GRAPH] });

const graphOf = (id: Typed<string>) =>
  object({
    steps: any(
      object({
        id,
        type: oneOf(...stepTypeNames),
        name: optional(text({ max: 255 })),
        position: optional(position()),
        config: optional(record()),
        templateId: optional(nullable(uuid())),
      }),
      MAX_STEPS,
    ),
    transitions: any(
      object({
        fromStepId: id,
        toStepId: id,
        branch: optional(branch()),
        condition: optional(nullable(object({ branch: optional(branch()) }))),
      }),
      2 * MAX_STEPS,
    ),
  });

const secondsAfterStart = (): Typed<number> => joi.number().min(0).max(3_155_760_000).required();
const span = (): Typed<WaitSpan> =>
  joi.object({ amount: spanKeys.amount.required(), unit: spanKeys.unit.required() }).required();

/** Limited to four-digit years: later date arithmetic may fail for others. */
export const simulatedMoment = (): Typed<string> =>
  dateTime().custom((value: string, helpers) =>
    /^\d{4}-/.test(new Date(value).toJSON() ?? '')
      ? value
      : refuse(helpers, 'invalid_string', 'must be a date before the year 10000'),
  );

/** A time, or a span or seconds from the start. */
export const simulatedTime = () => textOr(simulatedMoment(), objectOr(span(), secondsAfterStart()));

/** Names a stored contact, or describes one that does not exist. */
export const simulatedContact = () =>
  object({
    id: optional(uuid()),
    email: optional(email()),
    subscribed: optional(flag()),
    data: optional(contactData()),
  });

interface GivenTransition {
  fromStepId: string;
  toStepId: string;
  branch?: string | null | undefined;
  condition?: { branch?: string | null | undefined } | null | undefined;
}

/** Reads the branch from either place. The exit `next` of a step type is the transition without a branch. */
export const transitionOf = ({ fromStepId, toStepId, branch: given, condition }: GivenTransition) => ({
  ...{ fromStepId, toStepId, branch: branchOf(given ?? condition?.branch ?? 'next') },
});
