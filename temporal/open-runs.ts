import { ScheduleNotFoundError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { OpenRun } from '../services/reconciler/reconcile.ts';
import type { Temporal } from './connection.ts';
import { removeSchedule } from './cron-schedules.ts';
import type { NamespaceOwner } from './namespace-owner.ts';
import { taskQueues } from './task-queues.ts';

type Named = Pick<OpenRun, 'workflowId' | 'workflowType'>;

const PAGE = 1_000;
/** Prefix of the Schedules of customers' workflows. Every worker creates those of the platform itself. */
const CRON = 'cron/';
const CRON_TYPE = 'cronTick';

/** Reads and ends open workflows and Schedules, for the reconciler. */
export function openRuns(temporal: Temporal, owner?: Pick<NamespaceOwner, 'verifyAgain'>) {
  return {
    async *open(): AsyncGenerator<OpenRun[]> {
      // What is open here would be ended when its row is missing: never in another installation's namespace.
      await owner?.verifyAgain();
      yield* inPages(workflowsOf(temporal));
      yield* inPages(schedulesOf(temporal));
    },

    async isOpen({ workflowId, workflowType }: Named): Promise<boolean> {
      try {
        if (workflowType === 'Schedule')
          return Boolean(await temporal.client.schedule.getHandle(workflowId).describe());
        const { status } = await temporal.client.workflow.getHandle(workflowId).describe();
        return status.name === 'RUNNING';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError || error instanceof ScheduleNotFoundError) return false;
        throw error;
      }
    },

    async end({ workflowId, workflowType }: Named): Promise<void> {
      if (workflowType === 'Schedule') return removeSchedule(temporal, workflowId);
      try {
        await temporal.client.workflow.getHandle(workflowId).cancel();
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  };
}

async function* workflowsOf({ client }: Temporal): AsyncGenerator<OpenRun> {
  for await (const { workflowId, type, startTime } of client.workflow.list({
    // Other applications may share the namespace.
    query: `ExecutionStatus = "Running" AND TaskQueue = "${taskQueues.workflows}"`,
    pageSize: PAGE,
  }))
    yield { workflowId, workflowType: type, startedAt: startTime };
}

async function* schedulesOf({ client }: Temporal): AsyncGenerator<OpenRun> {
  // The list has no creation time. None is needed: a workflow's need for a Schedule does not change while one starts.
  for await (const { scheduleId, action } of client.schedule.list({ pageSize: PAGE }))
    if (scheduleId.startsWith(CRON) && action?.workflowType === CRON_TYPE)
      yield { workflowId: scheduleId, workflowType: 'Schedule', startedAt: new Date(0) };
}

async function* inPages(runs: AsyncIterable<OpenRun>): AsyncGenerator<OpenRun[]> {
  let page: OpenRun[] = [];
  for await (const run of runs) {
    page.push(run);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
