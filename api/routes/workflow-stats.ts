import { readWorkflowStats } from '../../services/workflows/counts.ts';
import { answer, missing, ok } from '../http/answers.ts';
import { rangeQuery } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import { optional, uuid, wholeNumber } from '../http/schemas.ts';
import { presentStepTypes, stepTypesSchema, workflowStatsSchema } from '../presenters/workflow-stats.ts';

export const workflowStats = routes('Workflows', [
  route({
    method: 'GET',
    path: '/workflows/step-types',
    summary: 'List the types of steps with their exits and the JSON Schema of their config',
    access: 'secretKey',
    scope: 'workflows:read',
    answers: { 200: answer('The types.', stepTypesSchema) },
    handle: async () => ok(presentStepTypes()),
  }),
  route({
    method: 'GET',
    path: '/workflows/:id/stats',
    summary: 'Get the numbers of a workflow and of each step; without a range, of all time',
    access: 'secretKey',
    scope: 'workflows:read',
    params: { id: uuid() },
    query: { ...rangeQuery(), version: optional(wholeNumber({ min: 1, max: 2_147_483_647 })) },
    answers: { 200: answer('The numbers.', workflowStatsSchema), 404: missing('workflow', 'WORKFLOW_NOT_FOUND') },
    handle: async ({ db, project, params, query }) =>
      ok(await readWorkflowStats(db, project.projectId, params.id, query)),
  }),
]);
