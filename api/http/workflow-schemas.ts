import joi from 'joi';
import { branchOf, MAX_BRANCH_LENGTH, stepTypeNames } from '../../services/workflows/graph.ts';
import { MAX_SECONDS, spanKeys, type WaitSpan } from '../../services/workflows/spans.ts';
import { position } from '../presenters/workflow.ts';
import { contactData } from './contact-data.ts';
import { named } from './json-schema.ts';
import {
  dateTime,
  email,
  flag,
  list,
  namedType,
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
import { statesOfTopics } from './topic-schemas.ts';
import type { Typed } from './typed.ts';
import { documented, refuse } from './violations.ts';

// Parts of requests that several routes of workflows share.

const MAX_STEPS = 500;

export const branch = () => nullable(text({ max: MAX_BRANCH_LENGTH }));

/** A list that may be empty. */
export const any = <T>(item: Typed<T>, max: number): Typed<T[]> => list(item.optional() as Typed<T>, { max });

const FIRST = '01928c7e-0000-7000-8000-000000000002';
const SECOND = '01928c7e-0000-7000-8000-000000000003';
const EXAMPLE_GRAPH = {
  steps: [
    { id: FIRST, type: 'DELAY', name: 'A day later', config: { amount: 1, unit: 'days' } },
    { id: SECOND, type: 'EXIT', name: 'End', config: {} },
  ],
  transitions: [{ fromStepId: FIRST, toStepId: SECOND }],
};

/** The fields of a step that can be changed. */
export const stepChange = {
  name: optional(text({ max: 255 })).description('Name; by default the label of the step type.'),
  position: optional(position()).description('Where the step is drawn on the canvas; the origin by default.'),
  config: optional(record())
    .description('Settings of the step; GET /workflows/step-types has their JSON Schema. Empty by default.')
    .example({ amount: 1, unit: 'days' }),
  templateId: optional(nullable(uuid())).description(
    'ID of the template that a SEND_EMAIL step sends, unless its config names one.',
  ),
};

export const stepTypeName = () =>
  oneOf(...stepTypeNames).description('Step type. GET /workflows/step-types describes them.');

const transitionOfKind = (kind: 'Workflow' | 'Simulation', id: Typed<string>) =>
  namedType(`${kind}TransitionInput`, 'A connection of two steps.', {
    fromStepId: id.description('ID of the step that the transition leaves.'),
    toStepId: id.description('ID of the step that follows.'),
    branch: optional(branch())
      .description('Branch that the transition follows, such as `yes` or `no`; null, `next` or left out for none.')
      .example('yes'),
    condition: optional(
      nullable(
        object({ branch: optional(branch()).description('Branch that the transition follows.').example('yes') }),
      ),
    ).description('Alternative to `branch`, which takes precedence.'),
  });

/** A transition between steps that are stored, or are stored with it. */
export const givenTransition = () => transitionOfKind('Workflow', uuid());

const graphOfKind = (kind: 'Workflow' | 'Simulation', description: string, id: Typed<string>) =>
  documented(
    namedType(`${kind}GraphInput`, description, {
      steps: any(
        namedType(`${kind}StepInput`, 'A step of a graph.', {
          id: id.description('Step ID that you choose, unique within the graph.'),
          type: stepTypeName(),
          ...stepChange,
        }),
        MAX_STEPS,
      ).description(`Steps, at most ${MAX_STEPS}.`),
      transitions: any(transitionOfKind(kind, id), 2 * MAX_STEPS).description(
        `Transitions between the steps, at most ${2 * MAX_STEPS}.`,
      ),
    }),
    { examples: [EXAMPLE_GRAPH] },
  );

/** A graph to store, with ids of the client. */
export const givenGraph = () => graphOfKind('Workflow', 'Steps and transitions to store.', uuid());

/** A graph that is not stored, with any ids. */
export const simulatedGraph = () =>
  graphOfKind('Simulation', 'Steps and transitions to simulate; not stored.', text({ max: 100 }));

const secondsAfterStart = (): Typed<number> => joi.number().min(0).max(MAX_SECONDS).required();
const span = (): Typed<WaitSpan> =>
  namedType('TimeSpan', 'A span of time, up to 100 years.', {
    amount: (spanKeys.amount.required() as Typed<number>).description('Number of units; a whole number for months.'),
    unit: (spanKeys.unit.required() as Typed<WaitSpan['unit']>).description('Unit of time.'),
  });

/** Limited to four-digit years: later date arithmetic may fail for others. */
export const simulatedMoment = (): Typed<string> =>
  dateTime().custom((value: string, helpers) =>
    /^\d{4}-/.test(new Date(value).toJSON() ?? '')
      ? value
      : refuse(helpers, 'invalid_string', 'must be a date before the year 10000'),
  );

export const simulatedTime = () =>
  named(
    'SimulationTime',
    'A time in a simulation: an ISO 8601 date-time, or a time span or a number of seconds from its start.',
    textOr(simulatedMoment(), objectOr(span(), secondsAfterStart())),
  );

export const simulatedContact = () =>
  namedType(
    'SimulatedContactInput',
    'A stored contact, or one to make up. With `id`, or with `email` alone, it is the stored contact.',
    {
      id: optional(uuid()).description('ID of a stored contact.'),
      email: optional(email()).description('Email address. Required unless `id` is set.'),
      subscribed: optional(flag()).description(
        'Whether the contact is subscribed. Defaults to the stored value, or to true if the contact is made up.',
      ),
      data: optional(contactData())
        .description('Custom fields; merged into those of a stored contact.')
        .example({ plan: 'pro' }),
      topics: optional(statesOfTopics()).description(
        'States by key or ID of the topic. Others are those of the stored contact, or the present defaults.',
      ),
    },
  );

/** Fields of events in simulations and cases. */
export const simulatedEvent = {
  name: text({ max: 255 }).description('Event name.').example('order_placed'),
  data: optional(contactData()).description('Event data.').example({ total: 12 }),
  at: optional(simulatedTime()).description('When the event happens; at the start by default.'),
};

export const caseEvent = () =>
  namedType('WorkflowCaseEvent', 'An event that happens during a case.', {
    at: simulatedEvent.at,
    name: simulatedEvent.name,
    data: simulatedEvent.data,
  });

export const expectedStep = () =>
  namedType('ExpectedStep', 'A step that the contact has to take.', {
    stepId: uuid().description('Step ID.'),
    branch: optional(branch())
      .description('Branch that the contact has to take; null for none. Any branch matches if it is left out.')
      .example('yes'),
  });

interface GivenTransition {
  fromStepId: string;
  toStepId: string;
  branch?: string | null | undefined;
  condition?: { branch?: string | null | undefined } | null | undefined;
}

/** Reads the branch from either place. The exit `next` of a step type is the transition without a branch. */
export const transitionOf = ({ fromStepId, toStepId, branch: given, condition }: GivenTransition) => ({
  fromStepId,
  toStepId,
  branch: branchOf(given ?? condition?.branch ?? 'next'),
});
