import type { Db } from '../../db/connect.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { statement } from '../../db/statement.ts';
import { stepTypeOf } from '../workflows/steps/index.ts';
import type { StepUses } from '../workflows/steps/step-type.ts';
import { newestGraphs } from '../workflows/versions.ts';

export interface TemplateStep {
  workflowId: string;
  workflowName: string;
  stepId: string;
  stepName: string;
}

const stepsWith = statement<TemplateStep>(
  'steps-with-template',
  `select distinct on (w.name, w.id, step ->> 'id')
     w.id as workflow_id, w.name as workflow_name, step ->> 'id' as step_id, step ->> 'name' as step_name
   from workflow_versions v
   join workflows w on w.id = v.workflow_id
   cross join lateral jsonb_array_elements(v.graph -> 'steps') as step
   where w.project_id = $1 and v.template_ids @> array[$2::uuid]
     and coalesce(step -> 'config' ->> 'templateId', step ->> 'templateId') = $2::uuid::text
     and (v.version = w.version or (w.enabled and v.version = w.valid_version) or exists (
       select 1 from executions e where e.workflow_id = v.workflow_id and e.version = v.version
         and e.status in ('RUNNING', 'WAITING')))
   order by w.name, w.id, step ->> 'id', v.version desc`,
);

/** Returns the steps that use a template, in the newest version, the startable one, and those of active executions. */
export const stepsWithTemplate = (db: Db, projectId: string, templateId: string): Promise<TemplateStep[]> =>
  stepsWith(db, [projectId, templateId]);

interface Named {
  id: string;
  name: string;
}

/** Returns the workflows with a step that uses a field, named as `email` or `data.<key>`. */
export async function workflowsWithField(db: Db, projectId: string, field: string): Promise<Named[]> {
  return workflowsWhere(db, projectId, ({ fields = [] }) => fields.includes(field));
}

/** Returns the first enabled workflow that uses a segment. */
export async function workflowNeedingSegment(
  db: Db,
  projectId: string,
  segmentId: string,
): Promise<string | undefined> {
  const users = new Set(
    (await workflowsWhere(db, projectId, ({ segments = [] }) => segments.includes(segmentId), segmentId)).map(
      ({ id }) => id,
    ),
  );
  const enabled = await Workflow.query(db).where({ projectId, enabled: true }).orderBy('name');
  return enabled.find(
    ({ id, triggerType, triggerConfig }) =>
      users.has(id) || (triggerType === 'SCHEDULE' && triggerConfig.segmentId === segmentId),
  )?.name;
}

async function workflowsWhere(
  db: Db,
  projectId: string,
  matches: (uses: Partial<StepUses>) => boolean,
  text = '',
): Promise<Named[]> {
  // The database filters by the text first, because parsing many large conditions is slow.
  const graphs = await newestGraphs(db, projectId, text);
  const ids = graphs
    .filter(({ graph }) => graph.steps.some((step) => matches(stepTypeOf(step).uses?.(step) ?? {})))
    .map(({ workflowId }) => workflowId);
  const found = await Workflow.query(db).where({ projectId }).whereIn('id', ids).orderBy('name').orderBy('id');
  return found.map(({ id, name }) => ({ id, name }));
}
