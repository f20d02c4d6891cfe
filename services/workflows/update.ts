import type { Db } from '../../db/connect.ts';
import { removeCounters } from '../../db/models/counters.ts';
import { Execution } from '../../db/models/execution.ts';
import { Workflow, WorkflowRemoval } from '../../db/models/workflow.ts';
import { statement } from '../../db/statement.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { type Changes, changesOf, recordAudit } from '../audit/record.ts';
import { changeWorkflow } from './editing.ts';
import { syncSchedule } from './schedule.ts';
import { readTrigger, type TriggerChange } from './trigger.ts';
import { requireNoViolations, triggerViolations } from './violations.ts';
import { workflowDetails } from './workflow-details.ts';

export interface WorkflowChange extends TriggerChange {
  name?: string | undefined;
  description?: string | null | undefined;
  enabled?: boolean | undefined;
  allowReentry?: boolean | undefined;
}

/** Disabling stops new entries; active executions go on. */
export async function updateWorkflow(
  db: Db,
  project: ProjectAccess,
  id: string,
  change: WorkflowChange,
): Promise<Workflow> {
  return changeWorkflow(db, project, id, async (trx, before) => {
    const { name = before.name, description = before.description, enabled = before.enabled } = change;
    const { allowReentry = before.allowReentry } = change;
    const trigger = await readTrigger(trx, before, change);
    const isEnabling = enabled && !before.enabled;
    const after = before.$clone().$set(trigger);
    if (isEnabling) requireNoViolations((await workflowDetails(trx, after)).faults);
    else if (enabled) requireNoViolations(triggerViolations(after));
    if (allowReentry !== before.allowReentry) await changeReentry(trx, id, allowReentry);
    const changes = changesOf<Workflow>(before, { name, description, enabled, allowReentry, ...trigger });
    const isDraftStale = ['triggerType', 'triggerConfig', 'allowReentry'].some((field) => field in changes);
    const updated = await Workflow.query(trx).patchAndFetchById(id, {
      name,
      description,
      enabled,
      allowReentry,
      ...trigger,
      ...(isEnabling && { validVersion: before.version }),
      ...(isDraftStale && { draftRevision: before.draftRevision + 1 }),
      updatedAt: new Date(),
    });
    await syncSchedule(trx, before, updated);
    await recordChange(trx, project, id, changes);
    return updated;
  });
}

/** Switching it on or off is a separate act, beside other changes of the same request. */
async function recordChange(
  trx: Db,
  project: ProjectAccess,
  id: string,
  { enabled, ...changes }: Changes,
): Promise<void> {
  const target = { type: 'workflow', id };
  if (Object.keys(changes).length > 0) await recordAudit(trx, project, { action: 'workflow.updated', target, changes });
  if (!enabled) return;
  const action = 'to' in enabled && enabled.to === true ? 'workflow.enabled' : 'workflow.disabled';
  await recordAudit(trx, project, { action, target });
}

/** Keeps mail and events of the workflow. Housekeeping deletes its ended executions in chunks. */
export async function deleteWorkflow(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await changeWorkflow(db, project, id, async (trx, workflow) => {
    const active = await Execution.query(trx)
      .where({ workflowId: id })
      .whereIn('status', ['RUNNING', 'WAITING'])
      .first()
      .select('id');
    if (active)
      throw new ApiError(409, 'CONFLICT', 'This workflow has active executions.', {
        suggestion: `Cancel them with POST /workflows/${id}/executions/cancel-all, or wait for them to finish.`,
      });
    await workflow.$query(trx).delete();
    await WorkflowRemoval.query(trx).insert({ workflowId: id });
    await removeCounters(trx, project.projectId, `workflow/${id}`);
    await syncSchedule(trx, workflow, undefined);
    await recordAudit(trx, project, {
      action: 'workflow.deleted',
      target: { type: 'workflow', id },
      changes: { name: { from: workflow.name, to: null } },
    });
  });
}

// `once_per_contact` marks the execution that forbids its contact to enter again. A unique index allows one per contact.

const clearMarks = statement(
  'reentry-clear-marks',
  `update executions set once_per_contact = false
   where id in (select id from executions where workflow_id = $1 and once_per_contact order by id for update)`,
);

const setMarks = statement(
  'reentry-set-marks',
  `update executions set once_per_contact = true where id in (
     select first.id from executions first where first.workflow_id = $1 and first.id in (
       select distinct on (e.contact_id) e.id from executions e where e.workflow_id = $1
       order by e.contact_id, e.once_per_contact desc, e.id)
     order by first.id for update)`,
);

/** Sets or clears the mark on past executions. The caller has locked the workflow, so no contact enters meanwhile. */
export async function changeReentry(trx: Db, workflowId: string, allowReentry: boolean): Promise<void> {
  await (allowReentry ? clearMarks : setMarks)(trx, [workflowId]);
}
