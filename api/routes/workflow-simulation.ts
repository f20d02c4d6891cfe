import joi from 'joi';
import { validationError } from '../../platform/errors.ts';
import { branches, stepTypeNames } from '../../services/workflows/graph.ts';
import { type SimulatedContact, simulateWorkflow } from '../../services/workflows/simulation/index.ts';
import { spanKeys, type WaitSpan } from '../../services/workflows/spans.ts';
import { answer, failure, missing, ok } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
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
  uuid,
} from '../http/schemas.ts';
import type { Typed } from '../http/typed.ts';
import { refuse } from '../http/violations.ts';
import { presentSimulation, simulationSchema } from '../presenters/simulation.ts';

const MAX_EVENTS = 1_000;
const MAX_STEPS = 500;

/** A list that may be empty. */
const any = <T>(item: Typed<T>, max: number): Typed<T[]> => list(item.optional() as Typed<T>, { max });
const branch = () => nullable(oneOf(...branches));
const id = () => text({ max: 100 });
const seconds = (): Typed<number> => joi.number().min(0).max(3_155_760_000).required();
const span = (): Typed<WaitSpan> =>
  joi.object({ amount: spanKeys.amount.required(), unit: spanKeys.unit.required() }).required();

/** Limited to four-digit years: later date arithmetic may fail for others. */
const moment = (): Typed<string> =>
  dateTime().custom((value: string, helpers) =>
    /^\d{4}-/.test(new Date(value).toJSON() ?? '')
      ? value
      : refuse(helpers, 'invalid_string', 'must be a date before the year 10000'),
  );

const contact = () =>
  object({
    id: optional(uuid()),
    email: optional(email()),
    subscribed: optional(flag()),
    data: optional(contactData()),
  });

const graph = () =>
  object({
    steps: any(
      object({
        id: id(),
        type: oneOf(...stepTypeNames),
        name: optional(text({ max: 255 })),
        config: optional(record()),
        templateId: optional(nullable(uuid())),
      }),
      MAX_STEPS,
    ),
    transitions: any(
      object({
        fromStepId: id(),
        toStepId: id(),
        branch: optional(branch()),
        condition: optional(nullable(object({ branch: optional(branch()) }))),
      }),
      2 * MAX_STEPS,
    ),
  });

/** Names the contact as for starting a workflow, or describes one that does not exist. */
function contactOf(given: {
  contact?: SimulatedContact | undefined;
  contactId?: string | undefined;
  email?: string | undefined;
}) {
  const contact = { id: given.contactId, email: given.email, ...given.contact };
  if (contact.id !== undefined || contact.email !== undefined) return contact;
  throw validationError([{ field: 'contact', message: '"contact" needs an "id" or an "email"', code: 'required' }]);
}

export const workflowSimulation = ({ db, settings, renderer }: AppParts): RouteGroup =>
  routes('Workflows', [
    route({
      method: 'POST',
      path: '/workflows/:id/simulate',
      role: 'VIEWER',
      heavy: 'simulation',
      summary: 'Simulate a workflow for a contact: steps, times, mails and webhooks; nothing is sent or stored',
      access: 'secretKey',
      scope: 'workflows:read',
      whileDisabled: true,
      params: { id: uuid() },
      body: {
        contact: optional(contact()),
        contactId: optional(uuid()),
        email: optional(email()),
        events: optional(
          any(
            object({
              name: text({ max: 255 }),
              data: optional(contactData()),
              at: optional(moment()),
              after: optional(objectOr(span(), seconds())),
            }),
            MAX_EVENTS,
          ),
        ),
        graph: optional(graph()),
        context: optional(contactData()),
        startAt: optional(moment()),
      },
      answers: {
        200: answer('The simulated execution.', simulationSchema),
        400: failure('The graph cannot be run; the error lists all reasons.', 'BAD_REQUEST'),
        404: missing('workflow', 'WORKFLOW_NOT_FOUND'),
      },
      handle: async ({ project, params, body: { graph: draft, startAt = new Date().toISOString(), ...body } }) => {
        const transitions = draft?.transitions.map(({ fromStepId, toStepId, branch: given, condition }) => ({
          fromStepId,
          toStepId,
          branch: given ?? condition?.branch ?? null,
        }));
        const input = {
          ...body,
          contact: contactOf(body),
          startAt,
          graph: draft && { steps: draft.steps, transitions: transitions ?? [] },
        };
        const simulation = await simulateWorkflow({ db, renderer, settings }, project.projectId, params.id, input);
        return ok(presentSimulation(simulation, new Date(startAt)));
      },
    }),
  ]);
