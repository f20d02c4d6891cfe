import { stepTypeNames } from '../../services/workflows/graph.ts';
import {
  addStep,
  addTransition,
  deleteStep,
  deleteTransition,
  updateStep,
} from '../../services/workflows/steps-edit.ts';
import { answer, created, failure, missing, missingPart, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { flag, nullable, object, oneOf, optional, record, text, uuid } from '../http/schemas.ts';
import { branch, transitionOf } from '../http/workflow-schemas.ts';
import { position, presentStep, presentTransition, stepSchema, transitionSchema } from '../presenters/workflow.ts';

const name = () => text({ max: 255 });

const noWorkflow = missing('workflow', 'WORKFLOW_NOT_FOUND');
const noStep = missingPart('step', noWorkflow);
const refused = failure('The config is invalid: its condition or its address is refused.', 'BAD_REQUEST');
const unverified = failure('The domain of `from` is not verified.', 'INTERNAL_SERVER_ERROR');

/** The changeable fields of a step. `config` is replaced as a whole. */
const change = {
  name: optional(name()),
  position: optional(position()),
  config: optional(record()),
  templateId: optional(nullable(uuid())),
};

export const workflowSteps = routes('Workflows', [
  route({
    method: 'POST',
    path: '/workflows/:id/steps',
    summary: 'Add a step; with autoConnect it follows the last step without a successor',
    access: 'secretKey',
    scope: 'workflows:write',
    params: { id: uuid() },
    body: { ...change, type: oneOf(...stepTypeNames), autoConnect: optional(flag()) },
    answers: { 201: answer('The step.', stepSchema), 400: refused, 403: unverified, 404: noWorkflow },
    handle: async ({ db, settings, project, params, body }) =>
      created(presentStep(await addStep(db, project, params.id, body, settings))),
  }),
  route({
    method: 'PATCH',
    path: '/workflows/:id/steps/:stepId',
    summary: 'Update a step; running executions keep their version of it',
    access: 'secretKey',
    scope: 'workflows:write',
    params: { id: uuid(), stepId: uuid() },
    body: change,
    answers: { 200: answer('The step.', stepSchema), 400: refused, 403: unverified, 404: noStep },
    handle: async ({ db, settings, project, params, body }) =>
      ok(presentStep(await updateStep(db, project, params.id, params.stepId, body, settings))),
  }),
  route({
    method: 'DELETE',
    path: '/workflows/:id/steps/:stepId',
    summary: 'Delete a step with its transitions; splice=true joins its neighbours',
    access: 'secretKey',
    scope: 'workflows:write',
    params: { id: uuid(), stepId: uuid() },
    query: { splice: optional(flag()) },
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
    summary: 'Connect two steps; from a CONDITION step by the branch yes or no',
    access: 'secretKey',
    scope: 'workflows:write',
    params: { id: uuid() },
    body: {
      fromStepId: uuid(),
      toStepId: uuid(),
      branch: optional(branch()),
      condition: optional(nullable(object({ branch: optional(branch()) }))),
    },
    answers: {
      201: answer('The transition.', transitionSchema),
      400: failure('These steps cannot be connected like this.', 'BAD_REQUEST'),
      404: noWorkflow,
    },
    handle: async ({ db, project, params, body }) =>
      created(presentTransition(await addTransition(db, project, params.id, transitionOf(body)))),
  }),
  route({
    method: 'DELETE',
    path: '/workflows/:id/transitions/:transitionId',
    summary: 'Delete a transition',
    access: 'secretKey',
    scope: 'workflows:write',
    params: { id: uuid(), transitionId: uuid() },
    answers: { 204: answer('Deleted.'), 404: missingPart('transition', noWorkflow) },
    handle: async ({ db, project, params }) => {
      await deleteTransition(db, project, params.id, params.transitionId);
      return noContent();
    },
  }),
]);
