import {
  addStep,
  addTransition,
  deleteStep,
  deleteTransition,
  updateStep,
} from '../../services/workflows/steps-edit.ts';
import { answer, created, failure, missing, missingPart, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { flag, nullable, optional, record, request, text, uuid } from '../http/schemas.ts';
import { givenTransition, stepChange, stepTypeName, transitionOf } from '../http/workflow-schemas.ts';
import { position, presentStep, presentTransition, stepSchema, transitionSchema } from '../presenters/workflow.ts';

const noWorkflow = missing('workflow', 'WORKFLOW_NOT_FOUND');
const noStep = missingPart('step', noWorkflow);
const refused = failure('The config is not allowed, such as an invalid condition or URL.', 'BAD_REQUEST');
const unverified = failure('The domain of `from` is not verified.', 'INTERNAL_SERVER_ERROR');

const ofWorkflow = { id: uuid().description('Workflow ID.') };
const ofStep = { ...ofWorkflow, stepId: uuid().description('Step ID.') };

export const workflowSteps = routes('Workflows', [
  route({
    method: 'POST',
    path: '/workflows/:id/steps',
    summary: 'Add a step to a workflow',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    body: request('CreateWorkflowStepRequest', 'A step to add.', {
      ...stepChange,
      type: stepTypeName(),
      autoConnect: optional(flag()).description(
        'Whether to connect the last step without a successor to the new one; false by default.',
      ),
    }),
    answers: { 201: answer('The step.', stepSchema), 400: refused, 403: unverified, 404: noWorkflow },
    handle: async ({ db, settings, project, params, body }) =>
      created(presentStep(params.id, await addStep(db, project, params.id, body, settings))),
  }),
  route({
    method: 'PATCH',
    path: '/workflows/:id/steps/:stepId',
    summary: 'Update a step; active executions keep their version of it',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofStep,
    body: request('UpdateWorkflowStepRequest', 'The changes; fields that are left out stay as they are.', {
      name: optional(text({ max: 255 })).description('New name.'),
      position: optional(position()).description('New position on the canvas.'),
      config: optional(record())
        .description('New settings, replaced as a whole; GET /workflows/step-types has their JSON Schema.')
        .example({ amount: 1, unit: 'days' }),
      templateId: optional(nullable(uuid())).description(
        'ID of the template that a SEND_EMAIL step sends; null removes it.',
      ),
    }),
    answers: { 200: answer('The step.', stepSchema), 400: refused, 403: unverified, 404: noStep },
    handle: async ({ db, settings, project, params, body }) =>
      ok(presentStep(params.id, await updateStep(db, project, params.id, params.stepId, body, settings))),
  }),
  route({
    method: 'DELETE',
    path: '/workflows/:id/steps/:stepId',
    summary: 'Delete a step with its transitions',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofStep,
    query: {
      splice: optional(flag()).description('Whether to connect the steps before and after it; false by default.'),
    },
    answers: {
      204: answer('Deleted.'),
      400: failure('A step that branches cannot be spliced out.', 'BAD_REQUEST'),
      404: noStep,
    },
    handle: async ({ db, project, params, query: { splice = false } }) => {
      await deleteStep(db, project, params.id, params.stepId, { splice });
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/transitions',
    summary: 'Connect two steps',
    access: 'secretKey',
    scope: 'workflows:write',
    params: ofWorkflow,
    // Not required, like every body.
    body: givenTransition().optional(),
    answers: {
      201: answer('The transition.', transitionSchema),
      400: failure('The steps cannot be connected like this.', 'BAD_REQUEST'),
      404: noWorkflow,
    },
    handle: async ({ db, project, params, body }) =>
      created(presentTransition(params.id, await addTransition(db, project, params.id, transitionOf(body)))),
  }),
  route({
    method: 'DELETE',
    path: '/workflows/:id/transitions/:transitionId',
    summary: 'Delete a transition',
    access: 'secretKey',
    scope: 'workflows:write',
    params: { ...ofWorkflow, transitionId: uuid().description('Transition ID.') },
    answers: { 204: answer('Deleted.'), 404: missingPart('transition', noWorkflow) },
    handle: async ({ db, project, params }) => {
      await deleteTransition(db, project, params.id, params.transitionId);
      return noContent();
    },
  }),
]);
