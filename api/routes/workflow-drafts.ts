import { dropDraft, findDraft, putDraft } from '../../services/workflows/drafts/draft.ts';
import { previewPublish, publishDraft } from '../../services/workflows/drafts/publish.ts';
import {
  findWorkflowVersion,
  listWorkflowVersions,
  rebaseDraft,
  restoreWorkflowVersion,
} from '../../services/workflows/drafts/versions.ts';
import { triggerTypes } from '../../services/workflows/trigger.ts';
import { answer, failure, missing, missingPart, noContent, ok } from '../http/answers.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { cursorPage, flag, nullable, oneOf, optional, request, text, uuid, wholeNumber } from '../http/schemas.ts';
import { mayWriteWorkflows } from '../http/workflow-rights.ts';
import { givenGraph, transitionOf } from '../http/workflow-schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { triggerConfig } from '../presenters/workflow.ts';
import {
  draftSchema,
  presentDraft,
  presentPublished,
  presentPublishPreview,
  presentWholeWorkflowVersion,
  presentWorkflowVersion,
  publishedSchema,
  publishPreviewSchema,
  wholeWorkflowVersionSchema,
  workflowVersionSchema,
} from '../presenters/workflow-draft.ts';

const MAX_INTEGER = 2_147_483_647;
const revision = () => wholeNumber({ min: 0, max: MAX_INTEGER });
const version = () => wholeNumber({ min: 1, max: MAX_INTEGER });
const params = { id: uuid().description('Workflow ID.') };
const ofVersion = { ...params, version: version().description('Version number.') };

const replacesDraft = request('ReplaceWorkflowDraftRequest', 'The draft to replace.', {
  expectedRevision: optional(revision()).description(
    "Revision of the draft that you have read; 409 if it is outdated. Required to restore a version over another user's draft.",
  ),
});

const theDraft = answer('The draft.', draftSchema);
const noWorkflow = missing('workflow', 'WORKFLOW_NOT_FOUND');
const noVersion = missingPart('workflow version', noWorkflow, 'WORKFLOW_NOT_FOUND');
const conflict = failure(
  'The draft or the live workflow has changed since. `details` has the current draft.',
  'CONFLICT',
);

export const workflowDrafts = ({ renderer }: AppParts): RouteGroup =>
  routes('Workflows', [
    route({
      method: 'GET',
      path: '/workflows/:id/draft',
      summary: 'Get the draft of a workflow, or its newest version if there is none',
      access: 'secretKey',
      scope: 'workflows:read',
      params,
      answers: { 200: theDraft, 404: noWorkflow },
      handle: async ({ db, project, role, settings, params }) => {
        const draft = await findDraft(db, project.projectId, params.id, settings);
        return ok(presentDraft(draft, mayWriteWorkflows({ project, role })));
      },
    }),
    route({
      method: 'PUT',
      path: '/workflows/:id/draft',
      summary: 'Save the draft of a workflow; it may be incomplete',
      access: 'secretKey',
      scope: 'workflows:write',
      params,
      bodyLimit: ({ contentBodyMaxBytes }) => contentBodyMaxBytes,
      body: request('SaveWorkflowDraftRequest', 'The draft to save. Settings that are left out stay as they are.', {
        graph: givenGraph().description('Steps and transitions; may be incomplete.'),
        triggerType: optional(oneOf(...triggerTypes)).description(
          'What starts the workflow: an event, API calls only, or a schedule.',
        ),
        triggerConfig: optional(triggerConfig()).description('Settings of the trigger; replaced as a whole.'),
        allowReentry: optional(flag()).description(
          'Whether contacts can enter more than once, though never twice at the same time.',
        ),
        expectedRevision: revision().description('Revision of the draft that you have read; 409 if it is outdated.'),
        baseVersion: optional(version()).description(
          'Version that the draft is based on; 409 if a new draft is not based on the newest one.',
        ),
      }),
      answers: { 200: theDraft, 404: noWorkflow, 409: conflict },
      handle: async ({ db, project, settings, params, body }) => {
        const graph = { steps: body.graph.steps, transitions: body.graph.transitions.map(transitionOf) };
        return ok(presentDraft(await putDraft(db, project, params.id, { ...body, graph }, settings)));
      },
    }),
    route({
      method: 'DELETE',
      path: '/workflows/:id/draft',
      summary: 'Discard the draft of a workflow',
      access: 'secretKey',
      scope: 'workflows:write',
      params,
      answers: { 204: answer('Discarded.'), 404: noWorkflow },
      handle: async ({ db, project, params }) => {
        await dropDraft(db, project, params.id);
        return noContent();
      },
    }),
    route({
      method: 'POST',
      path: '/workflows/:id/draft/rebase',
      summary: 'Rebase the draft onto the newest version; where both changed a step, the draft wins',
      access: 'secretKey',
      scope: 'workflows:write',
      params,
      body: replacesDraft,
      answers: { 200: theDraft, 404: noWorkflow, 409: conflict },
      handle: async ({ db, project, settings, params, body }) =>
        ok(presentDraft(await rebaseDraft(db, project, params.id, body, settings))),
    }),
    route({
      method: 'POST',
      path: '/workflows/:id/publish',
      heavy: 'simulation',
      summary: 'Publish the draft as the newest version',
      access: 'secretKey',
      scope: 'workflows:write',
      params,
      body: request('PublishWorkflowRequest', 'How to publish the draft.', {
        expectedRevision: revision().description('Revision of the draft that you have read; 409 if it is outdated.'),
        note: optional(nullable(text({ min: 0, max: 2_000 }))).description('Note to store with the version.'),
        migrate: optional(oneOf('NONE', 'POSSIBLE')).description(
          'Which active executions to move to the new version: none, or all that can move; none by default.',
        ),
        requireCases: optional(flag()).description('Whether all cases must pass; false by default.'),
      }),
      answers: {
        200: answer('The published workflow.', publishedSchema),
        400: failure('The draft is not valid. The error lists all faults.', 'BAD_REQUEST'),
        404: noWorkflow,
        409: conflict,
        422: failure('Cases fail. `errors` lists them.', 'VALIDATION_ERROR'),
      },
      handle: async ({ db, project, settings, params, body: { requireCases, ...body } }) => {
        const checked = requireCases ? { db, renderer, settings } : undefined;
        return ok(presentPublished(await publishDraft(db, project, params.id, body, settings, checked)));
      },
    }),
    route({
      method: 'POST',
      path: '/workflows/:id/publish/preview',
      role: 'VIEWER',
      summary: 'Preview what publishing the draft would do',
      access: 'secretKey',
      scope: 'workflows:read',
      whileDisabled: true,
      params,
      answers: { 200: answer('What publishing would do.', publishPreviewSchema), 404: noWorkflow },
      handle: async ({ db, project, settings, params }) =>
        ok(presentPublishPreview(await previewPublish(db, project.projectId, params.id, settings))),
    }),
    route({
      method: 'GET',
      path: '/workflows/:id/versions',
      summary: 'List the versions of a workflow, newest first; the last 200 published ones are kept',
      access: 'secretKey',
      scope: 'workflows:read',
      params,
      query: cursorPage(),
      answers: { 200: answer('A page of versions.', cursorListSchema(workflowVersionSchema)), 404: noWorkflow },
      handle: async ({ db, project, settings, params, query }) =>
        ok(
          presentCursorList(
            await listWorkflowVersions(db, project.projectId, params.id, settings.secretKeys, query),
            presentWorkflowVersion,
          ),
        ),
    }),
    route({
      method: 'GET',
      path: '/workflows/:id/versions/:version',
      summary: 'Get a version of a workflow with its graph',
      access: 'secretKey',
      scope: 'workflows:read',
      params: ofVersion,
      answers: { 200: answer('The version.', wholeWorkflowVersionSchema), 404: noVersion },
      handle: async ({ db, project, role, settings, params: { id, version: wanted } }) => {
        const found = await findWorkflowVersion(db, project.projectId, id, wanted, settings);
        return ok(presentWholeWorkflowVersion(found, mayWriteWorkflows({ project, role })));
      },
    }),
    route({
      method: 'POST',
      path: '/workflows/:id/versions/:version/restore',
      summary: 'Restore a version as the draft',
      access: 'secretKey',
      scope: 'workflows:write',
      params: ofVersion,
      body: replacesDraft,
      answers: { 200: theDraft, 404: noVersion, 409: conflict },
      handle: async ({ db, project, settings, params: { id, version: wanted }, body }) =>
        ok(presentDraft(await restoreWorkflowVersion(db, project, id, wanted, body, settings))),
    }),
  ]);
