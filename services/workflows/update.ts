import type { Db } from '../../db/connect.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { ApiError } from '../../platform/errors.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { changing } from './editing.ts';
import { changeReentry } from './reentry.ts';
import { followSchedule } from './schedule.ts';
import { readTrigger, type TriggerChange } from './trigger.ts';
import { requireNoViolations, triggerViolations } from './violations.ts';
import { wholeOf } from './workflow-details.ts';

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
  return changing(db, project, id, async (trx, before) => {
    const { name = before.name, description = before.description, enabled = before.enabled } = change;
    const { allowReentry = before.allowReentry } = change;
    const trigger = await readTrigger(trx, before, change);
    const isEnabling = enabled && !before.enabled;
    const after = before.$clone().$set(trigger);
    if (isEnabling) requireNoViolations((await wholeOf(trx, after)).faults);
    else if (enabled) requireNoViolations(triggerViolations(after));
    if (allowReentry !== before.allowReentry) await changeReentry(trx, id, allowReentry);
    const updated = await Workflow.query(trx).patchAndFetchById(id, {
      name,
      description,
      enabled,
      allowReentry,
      ...trigger,
      ...(isEnabling && { validVersion: before.version }),
      updatedAt: new Date(),
    });
    await followSchedule(trx, before, updated);
    return updated;
  });
}

/** Keeps mail and events of the workflow. Housekeeping deletes its ended executions in chunks. */
export async function deleteWorkflow(db: Db, project: ProjectAccess, id: string): Promise<void> {
  await changing(db, project, id, async (trx, workflow) => {
    const active = await trx('executions')
      .where({ workflowId: id })
      .whereIn('status', ['RUNNING', 'WAITING'])
      .first('id');
    if (active)
      throw new ApiError(409, 'CONFLICT', 'Contacts are on their way through this workflow.', {
        suggestion: `Cancel them with POST /workflows/${id}/executions/cancel-all, or wait for them to end.`,
      });
    await workflow.$query(trx).delete();
    await trx('workflowRemovals').insert({ workflowId: id });
    await followSchedule(trx, workflow, undefined);
  });
}
