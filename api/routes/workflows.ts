import { createWorkflow, duplicateWorkflow } from '../../services/workflows/create.ts';
import { conditionFields } from '../../services/workflows/fields.ts';
import { listWorkflows } from '../../services/workflows/list.ts';
import { triggerTypes } from '../../services/workflows/trigger.ts';
import { deleteWorkflow, updateWorkflow } from '../../services/workflows/update.ts';
import { findWorkflowDetails } from '../../services/workflows/workflow-details.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import { flag, list, nullable, object, offsetPage, oneOf, optional, text, uuid, wholeNumber } from '../http/schemas.ts';
import { mayWriteWorkflows } from '../http/workflow-rights.ts';
import { triggerConfig } from '../http/workflow-schemas.ts';
import { offsetListSchema, presentOffsetList } from '../presenters/offset-list.ts';
import {
  listedWorkflowSchema,
  presentListedWorkflow,
  presentWholeWorkflow,
  presentWorkflow,
  wholeWorkflowSchema,
  workflowSchema,
} from '../presenters/workflow.ts';

const name = () => text({ max: 255 });
const description = () => optional(nullable(text({ min: 0, max: 2_000 })));
const eventName = () => text({ max: 255 });

const params = { id: uuid() };
const one = answer('The workflow.', workflowSchema);
const noWorkflow = missing('workflow', 'WORKFLOW_NOT_FOUND');

const tooMany = failure('The project has the maximum number of workflows.', 'CONFLICT');

export const workflows = routes('Workflows', [
  route({
    method: 'GET',
    path: '/workflows',
    summary: 'List workflows, newest first, filtered by status and by part of name or description',
    access: 'secretKey',
    scope: 'workflows:read',
    query: {
      ...offsetPage(),
      search: optional(text({ min: 0, max: 1_000 })),
      status: optional(oneOf('active', 'disabled')),
    },
    answers: { 200: answer('A page of workflows.', offsetListSchema(listedWorkflowSchema)) },
    handle: async ({ db, project, query }) =>
      ok(presentOffsetList(await listWorkflows(db, project.projectId, query), presentListedWorkflow)),
  }),
  route({
    method: 'GET',
    path: '/workflows/fields',
    summary: 'List what CONDITION steps can filter by: contact fields, events, and the execution context',
    access: 'secretKey',
    scope: 'workflows:read',
    answers: {
      200: answer(
        'The fields.',
        object({
          fields: list(object({ field: text(), type: text(), category: oneOf('CONTACT', 'DATA', 'EVENT') })),
          count: wholeNumber({ min: 0 }),
        }),
      ),
    },
    handle: async ({ db, project }) => {
      const fields = await conditionFields(db, project.projectId);
      return ok({ fields, count: fields.length });
    },
  }),
  route({
    method: 'POST',
    path: '/workflows',
    summary: 'Create a workflow, disabled and without steps',
    access: 'secretKey',
    scope: 'workflows:write',
    body: {
      name: name(),
      description: description(),
      eventName: optional(eventName()),
      triggerConfig: optional(triggerConfig()),
      allowReentry: optional(flag()),
    },
    answers: { 201: one, 409: tooMany },
    handle: async ({ db, project, settings, body }) =>
      created(presentWorkflow(await createWorkflow(db, project, body, settings.limits))),
  }),
  route({
    method: 'GET',
    path: '/workflows/:id',
    summary: 'Get a workflow with its steps and transitions, and whether it can be enabled',
    access: 'secretKey',
    scope: 'workflows:read',
    params,
    answers: { 200: answer('The workflow.', wholeWorkflowSchema), 404: noWorkflow },
    handle: async ({ db, project, role, settings, params }) => {
      const details = await findWorkflowDetails(db, settings.secretKeys, project.projectId, params.id);
      return ok(presentWholeWorkflow(details, mayWriteWorkflows({ project, role })));
    },
  }),
  route({
    method: 'PATCH',
    path: '/workflows/:id',
    summary: 'Update name, trigger or re-entry of a workflow, enable or disable it',
    access: 'secretKey',
    scope: 'workflows:write',
    params,
    body: {
      name: optional(name()),
      description: description(),
      triggerType: optional(oneOf(...triggerTypes)),
      triggerConfig: optional(triggerConfig()),
      eventName: optional(eventName()),
      enabled: optional(flag()),
      allowReentry: optional(flag()),
    },
    answers: {
      200: one,
      400: failure('The workflow cannot be enabled; the error lists all reasons.', 'BAD_REQUEST'),
      404: noWorkflow,
    },
    handle: async ({ db, project, params, body: { eventName: event, ...change } }) => {
      const named = event === undefined ? {} : { triggerConfig: { ...change.triggerConfig, eventName: event } };
      return ok(presentWorkflow(await updateWorkflow(db, project, params.id, { ...change, ...named })));
    },
  }),
  route({
    method: 'DELETE',
    path: '/workflows/:id',
    summary: 'Delete a workflow without active executions; its mail and events stay',
    access: 'secretKey',
    scope: 'workflows:write',
    params,
    answers: {
      204: answer('Deleted.'),
      404: noWorkflow,
      409: failure('The workflow has active executions.', 'CONFLICT'),
    },
    handle: async ({ db, project, params }) => {
      await deleteWorkflow(db, project, params.id);
      return noContent();
    },
  }),
  route({
    method: 'POST',
    path: '/workflows/:id/duplicate',
    summary: 'Copy a workflow; the copy is disabled',
    access: 'secretKey',
    scope: 'workflows:write',
    params,
    answers: { 201: answer('The copy.', workflowSchema), 404: noWorkflow, 409: tooMany },
    handle: async ({ db, project, settings, params }) =>
      created(presentWorkflow(await duplicateWorkflow(db, project, params.id, settings.limits))),
  }),
]);
