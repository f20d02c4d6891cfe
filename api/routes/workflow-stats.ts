import { readWorkflowStats } from '../../services/workflows/counts.ts';
import { answer, missing, ok } from '../http/answers.ts';
import { rangeMoment } from '../http/range.ts';
import { route, routes } from '../http/route.ts';
import { optional, uuid, wholeNumber } from '../http/schemas.ts';
import { presentStepTypes, stepTypesSchema, workflowStatsSchema } from '../presenters/workflow-stats.ts';

export const workflowStats = routes('Workflows', [
  route({
    method: 'GET',
    path: '/workflows/step-types',
    summary: 'List step types with their branches and the JSON Schema of their config',
    access: 'secretKey',
    scope: 'workflows:read',
    answers: { 200: answer('The step types.', stepTypesSchema) },
    handle: async () => ok(presentStepTypes()),
  }),
  route({
    method: 'GET',
    path: '/workflows/:id/stats',
    summary: 'Get statistics of a workflow and its steps',
    access: 'secretKey',
    scope: 'workflows:read',
    params: { id: uuid().description('Workflow ID.') },
    query: {
      startDate: optional(rangeMoment()).description('First day of the date range, in UTC; unlimited by default.'),
      endDate: optional(rangeMoment()).description('Last day of the date range, in UTC; unlimited by default.'),
      version: optional(wholeNumber({ min: 1, max: 2_147_483_647 })).description(
        'Only executions of this version; all versions by default.',
      ),
    },
    answers: { 200: answer('The statistics.', workflowStatsSchema), 404: missing('workflow', 'WORKFLOW_NOT_FOUND') },
    handle: async ({ db, project, params, query }) =>
      ok(await readWorkflowStats(db, project.projectId, params.id, query)),
  }),
]);
