import { createCase, deleteCase, findCase, listCases, replaceCase } from '../../services/workflows/cases/cases.ts';
import { runCases } from '../../services/workflows/cases/run.ts';
import { answer, created, failure, missing, noContent, ok } from '../http/answers.ts';
import { contactData } from '../http/contact-data.ts';
import type { AppParts } from '../http/context.ts';
import { type RouteGroup, route, routes } from '../http/route.ts';
import { cursorPage, list, nullable, optional, request, text, uuid } from '../http/schemas.ts';
import {
  any,
  caseEvent,
  expectedStep,
  simulatedContact,
  simulatedGraph,
  simulatedMoment,
  simulatedTime,
  transitionOf,
} from '../http/workflow-schemas.ts';
import { cursorListSchema, presentCursorList } from '../presenters/cursor-list.ts';
import { caseRunSchema, caseSchema, presentCase, presentCaseRun } from '../presenters/workflow-case.ts';

const MAX_EVENTS = 1_000;
const MAX_PATH = 1_000;

const body = request('SaveWorkflowCaseRequest', 'A simulation with the path it is expected to take.', {
  name: text({ max: 255 }).description('Name.'),
  contact: simulatedContact().description('The contact to simulate.'),
  context: optional(contactData())
    .description('Variables of the execution; by default the data of the event that starts the workflow.')
    .example({ orderId: '4711' }),
  events: optional(any(caseEvent(), MAX_EVENTS)).description(
    `Events that happen during the simulation, at most ${MAX_EVENTS}.`,
  ),
  startAt: optional(simulatedMoment()).description(
    'When the simulation starts. Defaults to its current start, or now for a new case, but no later than the first event.',
  ),
  until: optional(nullable(simulatedTime())).description('When the simulation ends; null or left out for no end.'),
  expect: any(expectedStep(), MAX_PATH).description(`The steps of the expected path, in order, at most ${MAX_PATH}.`),
});

const params = { id: uuid().description('Workflow ID.') };
const ofCase = { ...params, caseId: uuid().description('Case ID.') };
const noWorkflow = missing('workflow', 'WORKFLOW_NOT_FOUND');
const noCase = missing('case');
const one = answer('The case.', caseSchema);

export const workflowCases = ({ db, renderer, settings }: AppParts): RouteGroup =>
  routes('Workflows', [
    route({
      method: 'GET',
      path: '/workflows/:id/cases',
      summary: 'List the cases of a workflow',
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
      summary: 'Create a case: a simulation with an expected path',
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
      summary: 'Run cases without sending or storing anything',
      access: 'secretKey',
      scope: 'workflows:read',
      whileDisabled: true,
      params,
      bodyLimit: ({ contentBodyMaxBytes }) => contentBodyMaxBytes,
      body: request('RunWorkflowCasesRequest', 'Which cases to run, and against which graph.', {
        graph: optional(simulatedGraph()).description(
          'Graph to run the cases against; by default the draft, or the newest version if there is none.',
        ),
        ids: optional(list(uuid(), { max: 100 })).description('IDs of the cases to run, at most 100; all by default.'),
      }),
      answers: {
        200: answer('The results.', caseRunSchema),
        400: failure('The graph cannot be run. The error lists all faults.', 'BAD_REQUEST'),
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
