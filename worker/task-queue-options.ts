import { campaignActivities } from '../activities/campaigns.ts';
import { domainActivities } from '../activities/domains.ts';
import { type EmailActivityDeps, emailActivities } from '../activities/emails.ts';
import { executionActivities, type WebhookActivityDeps, webhookActivities } from '../activities/executions.ts';
import { type FormActivityDeps, formActivities } from '../activities/forms.ts';
import { type JobActivityDeps, jobActivities } from '../activities/jobs.ts';
import { projectActivities } from '../activities/projects.ts';
import { type ReconcilerDeps, reconcilerActivities } from '../activities/reconciler.ts';
import { type RetentionDeps, retentionActivities } from '../activities/retention.ts';
import { segmentActivities } from '../activities/segments.ts';
import { tickActivities } from '../activities/ticks.ts';
import { type EndpointActivityDeps, webhookEndpointActivities } from '../activities/webhook-endpoints.ts';
import { CALL_ACTIVITY_SLOTS } from '../platform/call-shares.ts';
import type { Timings } from '../platform/timings.ts';
import type { CampaignAdvanceDeps } from '../services/campaigns/advance.ts';
import type { CheckDeps } from '../services/domains/check.ts';
import type { ExecutionAdvanceDeps as AdvanceExecutionDeps } from '../services/workflows/advance.ts';
import { taskQueues } from '../temporal/task-queues.ts';
import { workflowBundle } from './bundle.ts';
import type { QueueOptions } from './temporal-workers.ts';

/** One poller while idle, more under load. */
const pollers = { type: 'autoscaling', minimum: 1, initial: 2, maximum: 5 } as const;

/** Executions take their steps here, as local activities. More of them would only wait for database connections. */
export async function workflowsQueueOptions(deps: AdvanceExecutionDeps & { timings?: Timings }): Promise<QueueOptions> {
  return {
    taskQueue: taskQueues.workflows,
    workflowBundle: await workflowBundle(deps.timings),
    activities: executionActivities(deps),
    enableNonLocalActivities: false,
    maxConcurrentLocalActivityExecutions: 10,
    maxConcurrentWorkflowTaskExecutions: 40,
    workflowTaskPollerBehavior: { type: 'autoscaling', minimum: 2, initial: 4, maximum: 20 },
    // About a megabyte each. Evicted workflows are replayed when they continue.
    maxCachedWorkflows: 300,
  };
}

/** One slot: a sender uses all SMTP connections of its process. */
export function mailQueueOptions(deps: EmailActivityDeps): QueueOptions {
  return {
    taskQueue: taskQueues.mail,
    activities: emailActivities(deps),
    maxConcurrentActivityTaskExecutions: 1,
    maxConcurrentActivityTaskPolls: 1,
  };
}

/** Few slots: each keeps a database connection busy, and none is urgent. */
export function bulkQueueOptions(
  deps: JobActivityDeps & CampaignAdvanceDeps & RetentionDeps & FormActivityDeps,
): QueueOptions {
  return {
    taskQueue: taskQueues.bulk,
    activities: {
      ...campaignActivities(deps),
      ...formActivities(deps),
      ...jobActivities(deps),
      ...projectActivities(deps),
      ...retentionActivities(deps),
      ...segmentActivities(deps),
      ...tickActivities(deps),
    },
    maxConcurrentActivityTaskExecutions: 4,
    activityTaskPollerBehavior: pollers,
  };
}

/** Many slots: checks mostly wait for name servers, and an API request may wait for them. */
export function domainsQueueOptions(deps: CheckDeps): QueueOptions {
  return {
    taskQueue: taskQueues.domains,
    activities: domainActivities(deps),
    maxConcurrentActivityTaskExecutions: 20,
    activityTaskPollerBehavior: pollers,
  };
}

/** Steps that failed as local activities, and the reconciler. */
export function executionsQueueOptions(deps: AdvanceExecutionDeps & ReconcilerDeps): QueueOptions {
  return {
    taskQueue: taskQueues.executions,
    activities: { ...executionActivities(deps), ...reconcilerActivities(deps) },
    maxConcurrentActivityTaskExecutions: 5,
    activityTaskPollerBehavior: pollers,
  };
}

/** Many slots: calls wait for customers' servers, up to ten seconds each. The activity shares them between projects. */
export function webhooksQueueOptions(deps: WebhookActivityDeps): QueueOptions {
  return {
    taskQueue: taskQueues.webhooks,
    activities: webhookActivities(deps),
    maxConcurrentActivityTaskExecutions: CALL_ACTIVITY_SLOTS,
    activityTaskPollerBehavior: pollers,
  };
}

/** Separate from WEBHOOK steps. One slot per endpoint that is being called, for up to half a minute. */
export function webhookEndpointsQueueOptions(deps: EndpointActivityDeps): QueueOptions {
  return {
    taskQueue: taskQueues.webhookEndpoints,
    activities: webhookEndpointActivities(deps),
    maxConcurrentActivityTaskExecutions: CALL_ACTIVITY_SLOTS,
    activityTaskPollerBehavior: pollers,
  };
}
