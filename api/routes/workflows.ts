import { createWorkflow, duplicateWorkflow } from '../../services/workflows/create.ts';
import { conditionFields } from '../../services/workflows/fields.ts';
import { listWorkflows } from '../../services/workflows/list.ts';
import { triggerTypes } from '../../services/workflows/trigger.ts';
import { deleteWorkflow, updateWorkflow } from '../../services/workflows/update.ts';
import { findWorkflowDetails } from '../../services/workflows/workflow-details.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { route, routes } from '../http/route.ts';
import {
  flag,
  list,
  namedType,
  nullable,
  offsetPage,
  oneOf,
  optional,
  request,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import { mayWriteWorkflows } from '../http/workflow-rights.ts';
import { offsetListSchema, presentOffsetList } from '../presenters/offset-list.ts';
import {
  listedWorkflowSchema,
  presentListedWorkflow,
  presentWholeWorkflow,
  presentWorkflow,
  triggerConfig,
  wholeWorkflowSchema,
  workflowSchema,
} from '../presenters/workflow.ts';

const name = () => text({ max: 255 });
const description = () => optional(nullable(text({ min: 0, max: 2_000 })));
const eventName = () => text({ max: 255 });

const params = { id: uuid().description('Workflow ID.') };
const one = answer('The workflow.', workflowSchema);
const noWorkflow = missing('workflow', 'WORKFLOW_NOT_FOUND');

const tooMany = failure('The project has the maximum number of workflows.', 'CONFLICT');

export const workflows = routes('Workflows', [
  route({
    method: 'GET',
    path: '/workflows',
    summary: 'List workflows, newest first',
    access: 'secretKey',
    scope: 'workflows:read',
    query: {
      ...offsetPage(),
      search: optional(text({ min: 0, max: 1_000 })).description('Part of the name or description, in any case.'),
      status: optional(oneOf('active', 'disabled')).description('Only enabled, or only disabled workflows.'),
    },
    answers: { 200: answer('A page of workflows.', offsetListSchema(listedWorkflowSchema)) },
    handle: async ({ db, project, query }) =>
      ok(presentOffsetList(await listWorkflows(db, project.projectId, query), presentListedWorkflow)),
  }),
  route({
    method: 'GET',
    path: '/workflows/fields',
    summary: 'List the fields that CONDITION steps can filter by',
    access: 'secretKey',
    scope: 'workflows:read',
    answers: {
      200: answer(
        'The fields.',
        namedType('ConditionFieldCatalog', 'The fields that CONDITION steps can filter by.', {
          fields: list(
            namedType('ConditionField', 'A field that a filter can use.', {
              field: text().description('Field name as filters use it.').example('data.plan'),
              type: text().description('Type of the values; `event` for the event itself.').example('string'),
              category: oneOf('CONTACT', 'DATA', 'EVENT').description(
                'Standard field, custom field, or event and execution context.',
              ),
            }),
          ).description('Fields.'),
          count: wholeNumber({ min: 0 }).description('Number of fields.'),
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
    summary: 'Create a workflow',
    access: 'secretKey',
    scope: 'workflows:write',
    body: request(
      'CreateWorkflowRequest',
      'A workflow to create. It is disabled, has no steps and starts by an event.',
      {
        name: name().description('Name.'),
        description: description().description('Description.'),
        eventName: optional(eventName()).description(
          'Name of the event that starts the workflow. Required unless `triggerConfig` has it.',
        ),
        triggerConfig: optional(triggerConfig()).description(
          'Alternative to `eventName`; only its `eventName` is used.',
        ),
        allowReentry: optional(flag()).description(
          'Whether contacts can enter more than once, though never twice at the same time; false by default.',
        ),
      },
    ),
    answers: { 201: one, 409: tooMany },
    handle: async ({ db, project, settings, body }) =>
      created(presentWorkflow(await createWorkflow(db, project, body, settings.limits))),
  }),
  route({
    method: 'GET',
    path: '/workflows/:id',
    summary: 'Get a workflow with its steps, transitions and faults',
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
    summary: 'Update, enable or disable a workflow',
    access: 'secretKey',
    scope: 'workflows:write',
    params,
    body: request('UpdateWorkflowRequest', 'The changes; fields that are left out stay as they are.', {
      name: optional(name()).description('New name.'),
      description: description().description('New description; null removes it.'),
      triggerType: optional(oneOf(...triggerTypes)).description(
        'What starts the workflow: an event, API calls only, or a schedule.',
      ),
      triggerConfig: optional(triggerConfig()).description('Settings of the trigger; replaced as a whole.'),
      eventName: optional(eventName()).description('Sets `triggerConfig.eventName`; takes precedence over it.'),
      enabled: optional(flag()).description('Whether contacts can enter. Active executions continue when disabled.'),
      allowReentry: optional(flag()).description(
        'Whether contacts can enter more than once, though never twice at the same time.',
      ),
    }),
    answers: {
      200: one,
      400: failure('The workflow cannot be enabled. The error lists all faults.', 'BAD_REQUEST'),
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
    summary: 'Delete a workflow without active executions; its emails and events are kept',
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
    summary: 'Duplicate a workflow; the copy is disabled',
    access: 'secretKey',
    scope: 'workflows:write',
    params,
    answers: { 201: answer('The copy.', workflowSchema), 404: noWorkflow, 409: tooMany },
    handle: async ({ db, project, settings, params }) =>
      created(presentWorkflow(await duplicateWorkflow(db, project, params.id, settings.limits))),
  }),
]);
