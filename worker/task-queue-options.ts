import { campaignActivities, campaignSendingActivities, type SendingDeps } from '../activities/campaigns.ts';
import { domainActivities } from '../activities/domains.ts';
import { emailActivities } from '../activities/emails.ts';
import { executionActivities, type WebhookActivityDeps, webhookActivities } from '../activities/executions.ts';
import { type JobActivityDeps, jobActivities } from '../activities/jobs.ts';
import { projectActivities } from '../activities/projects.ts';
import { type ReconcilerDeps, reconcilerActivities } from '../activities/reconciler.ts';
import { type RetentionDeps, retentionActivities } from '../activities/retention.ts';
import { segmentActivities } from '../activities/segments.ts';
import { tickActivities } from '../activities/ticks.ts';
import type { AdvanceDeps } from '../services/campaigns/advance.ts';
import type { CheckDeps } from '../services/domains/check.ts';
import type { DeliveryDeps } from '../services/emails/deliver.ts';
import { MAX_WITH_NEWCOMERS } from '../services/emails/fold.ts';
import type { AdvanceDeps as AdvanceExecutionDeps } from '../services/workflows/advance.ts';
import { taskQueues } from '../temporal/task-queues.ts';
import { workflowBundle } from './bundle.ts';
import type { Duty } from './temporal-workers.ts';

/** Executions take their steps here, as local activities: more at a time would only wait for connections. */
export async function workflowsDuty(deps: AdvanceExecutionDeps): Promise<Duty> {
  return {
    taskQueue: taskQueues.workflows,
    workflowBundle: await workflowBundle(),
    activities: executionActivities(deps),
    enableNonLocalActivities: false,
    maxConcurrentLocalActivityExecutions: 10,
    maxConcurrentWorkflowTaskExecutions: 40,
    maxConcurrentWorkflowTaskPolls: 5,
    // About a megabyte each; what falls out is replayed when it wakes up.
    maxCachedWorkflows: 300,
  };
}

/** One slot is one batch; batches share the connections, so more of them would not send any faster. */
export function mailDuty(deps: DeliveryDeps & { stopping: AbortSignal }): Duty {
  return {
    taskQueue: taskQueues.mail,
    activities: emailActivities(deps),
    maxConcurrentActivityTaskExecutions: MAX_WITH_NEWCOMERS * 2,
    maxConcurrentActivityTaskPolls: 4,
  };
}

/** Apart from other mail, so that no campaign keeps a slot from it. Each sends for half a minute, and then another may. */
export function campaignsDuty(deps: SendingDeps): Duty {
  return {
    taskQueue: taskQueues.campaigns,
    activities: campaignSendingActivities(deps),
    maxConcurrentActivityTaskExecutions: 10,
    maxConcurrentActivityTaskPolls: 2,
  };
}

/** Each keeps a connection to the database busy, and none is in a hurry. */
export function bulkDuty(deps: JobActivityDeps & AdvanceDeps & RetentionDeps): Duty {
  return {
    taskQueue: taskQueues.bulk,
    activities: {
      ...campaignActivities(deps),
      ...jobActivities(deps),
      ...projectActivities(deps),
      ...retentionActivities(deps),
      ...segmentActivities(deps),
      ...tickActivities(deps),
    },
    maxConcurrentActivityTaskExecutions: 4,
    maxConcurrentActivityTaskPolls: 2,
  };
}

/** They mostly wait for name servers; somebody may be waiting for the answer. */
export function domainsDuty(deps: CheckDeps): Duty {
  return {
    taskQueue: taskQueues.domains,
    activities: domainActivities(deps),
    maxConcurrentActivityTaskExecutions: 20,
    maxConcurrentActivityTaskPolls: 2,
  };
}

/** What executions could not do at once in their workflow task, and the reconciler. */
export function executionsDuty(deps: AdvanceExecutionDeps & ReconcilerDeps): Duty {
  return {
    taskQueue: taskQueues.executions,
    activities: { ...executionActivities(deps), ...reconcilerActivities(deps) },
    maxConcurrentActivityTaskExecutions: 5,
    maxConcurrentActivityTaskPolls: 2,
  };
}

/** They wait for somebody else's servers, ten seconds each where these are slow. */
export function webhooksDuty(deps: WebhookActivityDeps): Duty {
  return {
    taskQueue: taskQueues.webhooks,
    activities: webhookActivities(deps),
    maxConcurrentActivityTaskExecutions: 50,
    maxConcurrentActivityTaskPolls: 2,
  };
}
