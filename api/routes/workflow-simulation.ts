import { validationError } from '../../platform/errors.ts';
import { namesStored, type SimulatedContact, simulateWorkflow } from '../../services/workflows/simulation/index.ts';
import { answer, failure, missing, ok } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { email, namedType, optional, request, uuid } from '../http/schemas.ts';
import { mayWriteWorkflows } from '../http/workflow-rights.ts';
import {
  any,
  simulatedContact,
  simulatedEvent,
  simulatedGraph,
  simulatedMoment,
  simulatedTime,
  transitionOf,
} from '../http/workflow-schemas.ts';
import { presentSimulation, simulationSchema } from '../presenters/simulation.ts';

const MAX_EVENTS = 1_000;

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
      summary: 'Simulate a workflow for a contact without sending or storing anything',
      access: 'secretKey',
      scope: 'workflows:read',
      alsoScope: {
        scope: 'contacts:read',
        for: { description: 'a stored contact', body: (given) => namesStored(contactOf(given)) },
      },
      whileDisabled: true,
      params: { id: uuid().description('Workflow ID.') },
      body: request('SimulateWorkflowRequest', 'The contact and the events to simulate.', {
        contact: optional(simulatedContact()).description(
          'The contact to simulate. Required unless `contactId` or `email` is set.',
        ),
        contactId: optional(uuid()).description('ID of a stored contact, as an alternative to `contact.id`.'),
        email: optional(email()).description('Email address, as an alternative to `contact.email`.'),
        events: optional(
          any(
            namedType('SimulationEvent', 'An event that happens during a simulation.', {
              ...simulatedEvent,
              after: optional(simulatedTime()).description('Same as `at`, which takes precedence.'),
            }),
            MAX_EVENTS,
          ),
        ).description(`Events that happen during the simulation, at most ${MAX_EVENTS}.`),
        graph: optional(simulatedGraph()).description(
          'Graph to simulate; by default that of the workflow, not of its draft.',
        ),
        context: optional(contactData())
          .description('Variables of the execution, such as the data of the event that starts it; empty by default.')
          .example({ orderId: '4711' }),
        startAt: optional(simulatedMoment()).description('When the simulation starts; now by default.'),
      }),
      answers: {
        200: answer('The simulated execution.', simulationSchema),
        400: failure('The graph cannot be run. The error lists all faults.', 'BAD_REQUEST'),
        404: missing('workflow', 'WORKFLOW_NOT_FOUND'),
      },
      handle: async ({
        project,
        role,
        params,
        body: { graph: draft, startAt = new Date().toISOString(), ...body },
      }) => {
        const input = {
          ...body,
          contact: contactOf(body),
          startAt,
          graph: draft && { steps: draft.steps, transitions: draft.transitions.map(transitionOf) },
        };
        const simulation = await simulateWorkflow({ db, renderer, settings }, project.projectId, params.id, input);
        return ok(presentSimulation(simulation, new Date(startAt), mayWriteWorkflows({ project, role })));
      },
    }),
  ]);
