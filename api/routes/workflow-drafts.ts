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
import { cursorPage, flag, nullable, oneOf, optional, text, uuid, wholeNumber } from '../http/schemas.ts';
import { mayWriteWorkflows } from '../http/workflow-rights.ts';
import { givenGraph, transitionOf, triggerConfig } from '../http/workflow-schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
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
const params = { id: uuid() };
const ofVersion = { ...params, version: version() };

const theDraft = answer('The draft.', draftSchema);
const noWorkflow = missing('workflow', 'WORKFLOW_NOT_FOUND');
const noVersion = missingPart('version of this workflow', noWorkflow, 'WORKFLOW_NOT_FOUND');
const conflict = failure('The draft or what is live was changed meanwhile; `details` has the draft.', 'CONFLICT');

export const workflowDrafts = ({ renderer }: AppParts): RouteGroup =>
  routes('Workflows', [
    route({
      method: 'GET',
      path: '/workflows/:id/draft',
      summary: 'Get the draft of a workflow; without one, its newest version',
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
      summary: 'Store the draft of a workflow; an incomplete graph is stored with its faults',
      access: 'secretKey',
      scope: 'workflows:write',
      params,
      bodyLimit: ({ contentBodyMaxBytes }) => contentBodyMaxBytes,
      body: {
        graph: givenGraph(uuid()),
        triggerType: optional(oneOf(...triggerTypes)),
        triggerConfig: optional(triggerConfig()),
        allowReentry: optional(flag()),
        expectedRevision: revision(),
        baseVersion: optional(version()),
      },
      answers: { 200: theDraft, 404: noWorkflow, 409: conflict },
      handle: async ({ db, project, settings, params, body }) => {
        const graph = { steps: body.graph.steps, transitions: body.graph.transitions.map(transitionOf) };
        return ok(presentDraft(await putDraft(db, project, params.id, { ...body, graph }, settings)));
      },
    }),
    route({
      method: 'DELETE',
      path: '/workflows/:id/draft',
      summary: 'Drop the draft of a workflow',
      access: 'secretKey',
      scope: 'workflows:write',
      params,
      answers: { 204: answer('Dropped.'), 404: noWorkflow },
      handle: async ({ db, project, params }) => {
        await dropDraft(db, project, params.id);
        return noContent();
      },
    }),
    route({
      method: 'POST',
      path: '/workflows/:id/draft/rebase',
      summary: 'Apply the changes of the draft to the newest version; where both changed a step, the draft wins',
      access: 'secretKey',
      scope: 'workflows:write',
      params,
      body: { expectedRevision: optional(revision()) },
      answers: { 200: theDraft, 404: noWorkflow, 409: conflict },
      handle: async ({ db, project, settings, params, body }) =>
        ok(presentDraft(await rebaseDraft(db, project, params.id, body, settings))),
    }),
    route({
      method: 'POST',
      path: '/workflows/:id/publish',
      heavy: 'simulation',
      summary: 'Make the draft the newest version, and move active executions to it where possible',
      access: 'secretKey',
      scope: 'workflows:write',
      params,
      body: {
        expectedRevision: revision(),
        note: optional(nullable(text({ min: 0, max: 2_000 }))),
        migrate: optional(oneOf('NONE', 'POSSIBLE')),
        requireCases: optional(flag()),
      },
      answers: {
        200: answer('The published workflow.', publishedSchema),
        400: failure('The draft is not valid; the error lists all faults.', 'BAD_REQUEST'),
        404: noWorkflow,
        409: conflict,
        422: failure('A case does not pass; `errors` has all that fail.', 'VALIDATION_ERROR'),
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
      summary: 'Check whether the draft is valid, and which active executions could move to it',
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
      summary: 'List the last 200 published versions of a workflow, newest first',
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
      summary: 'Make a version the draft; to replace the draft of someone else, send its revision',
      access: 'secretKey',
      scope: 'workflows:write',
      params: ofVersion,
      body: { expectedRevision: optional(revision()) },
      answers: { 200: theDraft, 404: noVersion, 409: conflict },
      handle: async ({ db, project, settings, params: { id, version: wanted }, body }) =>
        ok(presentDraft(await restoreWorkflowVersion(db, project, id, wanted, body, settings))),
    }),
  ]);
