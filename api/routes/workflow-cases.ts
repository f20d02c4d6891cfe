import { createCase, deleteCase, findCase, listCases, replaceCase } from '../../services/workflows/cases/cases.ts';
import { runCases } from '../../services/workflows/cases/run.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { cursorPage, list, nullable, object, optional, text, uuid } from '../http/schemas.ts';
import {
  any,
  branch,
  givenGraph,
  simulatedContact,
  simulatedMoment,
  simulatedTime,
  transitionOf,
} from '../http/workflow-schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { caseRunSchema, caseSchema, presentCase, presentCaseRun } from '../presenters/workflow-case.ts';

const MAX_EVENTS = 1_000;
const MAX_PATH = 1_000;

const body = {
  name: text({ max: 255 }),
  contact: simulatedContact(),
  context: optional(contactData()),
  events: optional(
    any(object({ at: optional(simulatedTime()), name: text({ max: 255 }), data: optional(contactData()) }), MAX_EVENTS),
  ),
  startAt: optional(simulatedMoment()),
  until: optional(nullable(simulatedTime())),
  expect: any(object({ stepId: uuid(), branch: optional(branch()) }), MAX_PATH),
};

const params = { id: uuid() };
const ofCase = { ...params, caseId: uuid() };
const noWorkflow = missing('workflow', 'WORKFLOW_NOT_FOUND');
const noCase = missing('case');
const one = answer('The case.', caseSchema);

export const workflowCases = ({ db, renderer, settings }: AppParts): RouteGroup =>
  routes('Workflows', [
    route({
      method: 'GET',
      path: '/workflows/:id/cases',
      summary: 'List the cases of a workflow: saved simulations with an expected path',
      access: 'secretKey',
      scope: 'workflows:read',
      params,
      query: cursorPage(),
      answers: { 200: answer('A page of cases.', cursorListSchema(caseSchema)), 404: noWorkflow },
      handle: async ({ project, params, query }) =>
        ok(
          presentCursorList(await listCases(db, project.projectId, params.id, settings.secretKeys, query), presentCase),
        ),
    }),
    route({
      method: 'POST',
      path: '/workflows/:id/cases',
      summary: 'Save a simulation with the path that it has to take',
      access: 'secretKey',
      scope: 'workflows:write',
      params,
      body,
      answers: {
        201: one,
        404: noWorkflow,
        409: failure('The workflow has the maximum number of cases.', 'CONFLICT'),
      },
      handle: async ({ db, project, params, body }) =>
        created(presentCase(await createCase(db, project, params.id, body))),
    }),
    route({
      method: 'POST',
      path: '/workflows/:id/cases/run',
      role: 'VIEWER',
      heavy: 'simulation',
      summary: 'Run cases against a graph, or else the draft; nothing is sent or stored',
      access: 'secretKey',
      scope: 'workflows:read',
      whileDisabled: true,
      params,
      bodyLimit: ({ contentBodyMaxBytes }) => contentBodyMaxBytes,
      body: { graph: optional(givenGraph(text({ max: 100 }))), ids: optional(list(uuid(), { max: 100 })) },
      answers: {
        200: answer('The results.', caseRunSchema),
        400: failure('The graph cannot be run; the error lists all reasons.', 'BAD_REQUEST'),
        404: noWorkflow,
      },
      handle: async ({ project, params, body: { graph, ids } }) => {
        const given = graph && { steps: graph.steps, transitions: graph.transitions.map(transitionOf) };
        const run = await runCases({ db, renderer, settings }, project.projectId, params.id, { graph: given, ids });
        return ok(presentCaseRun(run));
      },
    }),
    route({
      method: 'GET',
      path: '/workflows/:id/cases/:caseId',
      summary: 'Get a case of a workflow',
      access: 'secretKey',
      scope: 'workflows:read',
      params: ofCase,
      answers: { 200: one, 404: noCase },
      handle: async ({ project, params: { id, caseId } }) =>
        ok(presentCase(await findCase(db, project.projectId, id, caseId))),
    }),
    route({
      method: 'PUT',
      path: '/workflows/:id/cases/:caseId',
      summary: 'Replace a case of a workflow',
      access: 'secretKey',
      scope: 'workflows:write',
      params: ofCase,
      body,
      answers: { 200: one, 404: noCase },
      handle: async ({ db, project, params: { id, caseId }, body }) =>
        ok(presentCase(await replaceCase(db, project, id, caseId, body))),
    }),
    route({
      method: 'DELETE',
      path: '/workflows/:id/cases/:caseId',
      summary: 'Delete a case of a workflow',
      access: 'secretKey',
      scope: 'workflows:write',
      params: ofCase,
      answers: { 204: answer('Deleted.'), 404: noCase },
      handle: async ({ db, project, params: { id, caseId } }) => {
        await deleteCase(db, project, id, caseId);
        return noContent();
      },
    }),
  ]);
