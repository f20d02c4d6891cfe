import { ScheduleNotFoundError } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { Temporal } from './connection.ts';
import { removeSchedule } from './cron-schedules.ts';

export interface OpenRun {
  workflowId: string;
  workflowType: string;
  startedAt: Date;
}

type Named = Pick<OpenRun, 'workflowId' | 'workflowType'>;

const PAGE = 1_000;
const DEADLINE_MS = 10_000;
/** Schedules of customers' workflows; those of the platform itself are made by every worker. */
const CRON = 'cron/';

/** What is open in Temporal, for whoever compares it with what ought to be. */
export function openRuns(temporal: Temporal) {
  const { client, connection } = temporal;
  const soon = <T>(work: () => Promise<T>) => connection.withDeadline(Date.now() + DEADLINE_MS, work);
  return {
    async *open(): AsyncGenerator<OpenRun[]> {
      yield* inPages(workflowsOf(temporal));
      yield* inPages(schedulesOf(temporal));
    },

    async isOpen({ workflowId, workflowType }: Named): Promise<boolean> {
      try {
        if (workflowType === 'Schedule')
          return Boolean(await soon(() => client.schedule.getHandle(workflowId).describe()));
        const { status } = await soon(() => client.workflow.getHandle(workflowId).describe());
        return status.name === 'RUNNING';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError || error instanceof ScheduleNotFoundError) return false;
        throw error;
      }
    },

    async end({ workflowId, workflowType }: Named): Promise<void> {
      if (workflowType === 'Schedule') return soon(() => removeSchedule(temporal, workflowId));
      try {
        await soon(() => client.workflow.getHandle(workflowId).cancel());
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
  };
}

async function* workflowsOf({ client }: Temporal): AsyncGenerator<OpenRun> {
  for await (const { workflowId, type, startTime } of client.workflow.list({
    query: 'ExecutionStatus = "Running"',
    pageSize: PAGE,
  }))
    yield { workflowId, workflowType: type, startedAt: startTime };
}

async function* schedulesOf({ client }: Temporal): AsyncGenerator<OpenRun> {
  // When it was made is not listed; whether it is wanted does not change in a moment.
  for await (const { scheduleId } of client.schedule.list({ pageSize: PAGE }))
    if (scheduleId.startsWith(CRON)) yield { workflowId: scheduleId, workflowType: 'Schedule', startedAt: new Date(0) };
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
