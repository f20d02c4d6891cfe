import type { Db } from '../../db/connect.ts';
import type { Workflow } from '../../db/models/workflow.ts';
import { workflowIds } from '../outbox/ids.ts';
import { writeOutboxMessage } from '../outbox/write.ts';

type Scheduled = Pick<Workflow, 'id' | 'projectId' | 'triggerType' | 'triggerConfig' | 'enabled'>;

/** What the Temporal Schedule of a workflow shall be; undefined where it shall have none. */
function scheduleOf({ triggerType, triggerConfig, enabled }: Scheduled) {
  const { cron, timezone = 'UTC' } = triggerConfig;
  return triggerType === 'SCHEDULE' && cron ? { cron, timezone, paused: !enabled } : undefined;
}

/**
 * Has Temporal follow a change of a workflow, in its transaction. `after` is undefined where it is deleted. Whether a
 * tick may still have contacts enter is decided by the row, so disabling is final although the Schedule follows later.
 */
export async function followSchedule(trx: Db, before: Scheduled, after: Scheduled | undefined): Promise<void> {
  const was = scheduleOf(before);
  const will = after && scheduleOf(after);
  if (JSON.stringify(was) === JSON.stringify(will)) return;
  await tellSchedule(trx, before, will);
}

/** Says again what it shall be: for one that has been lost. */
export const renewSchedule = (trx: Db, workflow: Scheduled): Promise<void> =>
  tellSchedule(trx, workflow, scheduleOf(workflow));

async function tellSchedule(
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
