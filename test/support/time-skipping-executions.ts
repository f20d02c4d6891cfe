// Runs executions on the time-skipping server: real workflow, activities and database, virtual time.
import type { WorkflowHandle } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { executionActivities, webhookActivities } from '../../activities/executions.ts';
import type { Db } from '../../db/connect.ts';
import { outboundHttp } from '../../platform/http/outbound-http.ts';
import { createResolver } from '../../platform/http/resolver.ts';
import { claimOutboxMessages } from '../../services/outbox/claim.ts';
import { workflowIds } from '../../services/outbox/ids.ts';
import { resolveOutboxMessages } from '../../services/outbox/resolve.ts';
import type { Temporal } from '../../temporal/connection.ts';
import { attributeKeys } from '../../temporal/search-attributes.ts';
import { type Order, sendToTemporal } from '../../temporal/send.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { testLinks } from './links.ts';
import { testRenderer } from './renderer.ts';
import { timeSkipping } from './temporal.ts';
import './temporal-work.ts';
import type { TestProject } from './connected-database.ts';
import { testKeys } from './keys.ts';

/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API. */
const KEYWORD = 2;

export interface TimeSkippingExecutions {
  env: TestWorkflowEnvironment;
  /** Processes the outbox, as the relay does. */
  relay(): Promise<void>;
  handle(executionId: string, generation?: number): WorkflowHandle;
  stop(): Promise<void>;
}

export async function startTimeSkippingExecutions(
  db: Db,
  project: TestProject,
  allowedHosts: string[] = [],
): Promise<TimeSkippingExecutions> {
  const env = await timeSkipping();
  const { connection, client } = env;
  const temporal = { connection, client, namespace: env.namespace ?? 'default' } as unknown as Temporal;
  // The Java test server cannot list search attributes, but rejects unknown ones.
  const searchAttributes = Object.fromEntries(Object.values(attributeKeys).map(({ name }) => [name, KEYWORD]));
  await connection.operatorService.addSearchAttributes({ namespace: temporal.namespace, searchAttributes });
  const resolver = createResolver({ servers: [] });
  let now = new Date();
  const activities = executionActivities({
    db,
    renderer: testRenderer(),
    links: testLinks,
    now: () => now,
    keys: testKeys,
  });
  const webhooks = webhookActivities({
    db,
    http: outboundHttp({ resolver, allowedHosts }),
    keys: testKeys,
    now: () => now,
  });
  const skipped = {
    advanceExecution: async (...args: Parameters<typeof activities.advanceExecution>) => {
      now = new Date(await env.currentTimeMs());
      return activities.advanceExecution(...args);
    },
  };
  const base = { connection: env.nativeConnection };
  const workflows = { taskQueue: taskQueues.workflows, workflowBundle: await workflowBundle() };
  const workers = [
    await Worker.create({ ...base, ...workflows, activities: skipped, enableNonLocalActivities: false }),
    await Worker.create({ ...base, taskQueue: taskQueues.executions, activities: skipped }),
    await Worker.create({ ...base, taskQueue: taskQueues.webhooks, activities: webhooks }),
  ];
  const running = workers.map((worker) => worker.run());
  return {
    env,
    relay: () => relayAll(db, temporal),
    handle: (executionId, generation = 1) =>
      client.workflow.getHandle(workflowIds.execution(project.id, executionId, generation)),
    async stop() {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await env.teardown();
      resolver.close();
    },
  };
}

/** Repeats until the outbox is empty: a message waits for earlier ones of its workflow id. */
async function relayAll(db: Db, temporal: Temporal): Promise<void> {
  for (const queue of ['starts', 'events', 'control', 'starts'] as const)
    for (let messages = await claimOutboxMessages(db, queue, 100); messages.length > 0; ) {
      const done: string[] = [];
      for (const { id, projectId, ...message } of messages) {
        const outcome = await sendToTemporal(temporal, { args: [], projectId, ...message } as Order);
        if (!outcome.done) throw new Error(outcome.message);
        done.push(id);
      }
      await resolveOutboxMessages(db, { done, failed: [], unreachable: [] });
      messages = await claimOutboxMessages(db, queue, 100);
    }
}
