import type { Db } from '../../db/connect.ts';
import type { Workflow } from '../../db/models/workflow.ts';
import { workflowIds } from '../outbox/ids.ts';
import { writeOutboxMessage } from '../outbox/write.ts';

type Scheduled = Pick<Workflow, 'id' | 'projectId' | 'triggerType' | 'triggerConfig' | 'enabled'>;

/** Returns the options of a workflow's Temporal Schedule, or undefined when it needs none. */
function scheduleOf({ triggerType, triggerConfig, enabled }: Scheduled) {
  const { cron, timezone = 'UTC' } = triggerConfig;
  return triggerType === 'SCHEDULE' && cron ? { cron, timezone, paused: !enabled } : undefined;
}

/**
 * Updates the Temporal Schedule after a change of a workflow, in its transaction. `after` is undefined when it is deleted.
 * A tick checks the workflow's row before contacts enter, so disabling takes effect before the Schedule is updated.
 */
export async function syncSchedule(trx: Db, before: Scheduled, after: Scheduled | undefined): Promise<void> {
  const current = scheduleOf(before);
  const wanted = after && scheduleOf(after);
  if (JSON.stringify(current) === JSON.stringify(wanted)) return;
  await writeScheduleMessage(trx, before, wanted);
}

/** Restores a Schedule that Temporal has lost. */
export const restoreSchedule = (trx: Db, workflow: Scheduled): Promise<void> =>
  writeScheduleMessage(trx, workflow, scheduleOf(workflow));

async function writeScheduleMessage(
  trx: Db,
  { id, projectId }: Scheduled,
  schedule: ReturnType<typeof scheduleOf>,
): Promise<void> {
  const common = { queue: 'control' as const, projectId, workflowId: workflowIds.cron(projectId, id) };
  if (!schedule) return writeOutboxMessage(trx, { ...common, action: 'unschedule' });
  await writeOutboxMessage(trx, {
    ...common,
    action: 'schedule',
    ...schedule,
    workflowType: 'cronTick',
    args: [{ workflowId: id }],
    resourceId: id,
  });
}
