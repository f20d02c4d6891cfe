import { validationError } from '../../platform/errors.ts';
import { namesStored, type SimulatedContact, simulateWorkflow } from '../../services/workflows/simulation/index.ts';
import { answer, failure, missing, ok } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { email, object, optional, text, uuid } from '../http/schemas.ts';
import { mayWriteWorkflows } from '../http/workflow-rights.ts';
import {
  any,
  givenGraph,
  simulatedContact,
  simulatedMoment,
  simulatedTime,
  transitionOf,
} from '../http/workflow-schemas.ts';
import { presentSimulation, simulationSchema } from '../presenters/simulation.ts';

const MAX_EVENTS = 1_000;

const id = () => text({ max: 100 });
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
      alsoScope: {
        scope: 'contacts:read',
        for: { description: 'a stored contact', body: (given) => namesStored(contactOf(given)) },
      },
      whileDisabled: true,
      params: { id: uuid() },
      body: {
        contact: optional(simulatedContact()),
        contactId: optional(uuid()),
        email: optional(email()),
        events: optional(
          any(
            object({
              name: text({ max: 255 }),
              data: optional(contactData()),
              at: optional(simulatedTime()),
              after: optional(simulatedTime()),
            }),
            MAX_EVENTS,
          ),
        ),
        graph: optional(givenGraph(id())),
        context: optional(contactData()),
        startAt: optional(simulatedMoment()),
      },
      answers: {
        200: answer('The simulated execution.', simulationSchema),
        400: failure('The graph cannot be run; the error lists all reasons.', 'BAD_REQUEST'),
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
