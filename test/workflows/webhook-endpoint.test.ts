import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { expect } from 'chai';
import { webhookEndpointActivities } from '../../activities/webhook-endpoints.ts';
import { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { createResolver, type Resolver } from '../../platform/http/resolver.ts';
import { readSettings } from '../../platform/settings.ts';
import { trackEvent } from '../../services/events/track.ts';
import { workflowIds } from '../../services/outbox/ids.ts';
import { signalNames } from '../../services/outbox/signals.ts';
import { listDeliveries } from '../../services/webhooks/deliveries.ts';
import { createEndpoint, deleteEndpoint } from '../../services/webhooks/endpoints.ts';
import { taskQueues } from '../../temporal/task-queues.ts';
import { workflowBundle } from '../../worker/bundle.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { timeSkipping } from '../support/temporal.ts';
import '../support/temporal-work.ts';
import {
  type ConnectedDatabase,
  connectTestDatabase,
  makeProject,
  type TestProject,
} from '../support/connected-database.ts';
import { eventually } from '../support/waiting.ts';
import { relayWebhooks } from '../support/webhooks.ts';

const DAY_MS = 86_400_000;

describe('the webhook endpoint workflow', () => {
  let env: TestWorkflowEnvironment;
  let database: ConnectedDatabase;
  let receiver: HttpReceiver;
  let resolver: Resolver;
  let project: TestProject;
  let stop: () => Promise<void>;
  let now = new Date();
  const stopping = new AbortController();

  before(async () => {
    [env, database, receiver] = await Promise.all([timeSkipping(), connectTestDatabase(), startHttpReceiver()]);
    project = await makeProject(database.db);
    resolver = createResolver({ servers: [] });
    const { secretKeys: keys, systemFrom } = readSettings({});
    const real = webhookEndpointActivities({
      db: database.db,
      resolver,
      allowedHosts: [receiver.host],
      keys,
      systemFrom,
      stopping: stopping.signal,
      now: () => now,
    });
    const activities = {
      deliverWebhooks: async (...args: Parameters<typeof real.deliverWebhooks>) => {
        now = new Date(await env.currentTimeMs());
        return real.deliverWebhooks(...args);
      },
    };
    const base = { connection: env.nativeConnection };
    const workers = [
      await Worker.create({ ...base, taskQueue: taskQueues.workflows, workflowBundle: await workflowBundle() }),
      await Worker.create({ ...base, taskQueue: taskQueues.webhookEndpoints, activities }),
    ];
    const running = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
    };
  });
  after(async () => {
    await stop?.();
    resolver?.close();
    await env?.teardown();
    await receiver?.stop();
    await database?.close();
  });

  const settings = () => readSettings({ WEBHOOK_ALLOWED_HOSTS: receiver.host });
  const track = async (event: string) => {
    await trackEvent(database.db, project.access, { email: 'ann@example.com', event });
    await relayWebhooks(database.db);
  };
  const statuses = async (id: string) =>
    (await listDeliveries(database.db, project.id, id, settings().secretKeys, { limit: 100 })).data.map(
      ({ status }) => status,
    );

  it('lets a receiver that was down for three days catch up, with constant ids, and ends with its endpoint', async () => {
    const input = { url: receiver.url, types: ['event.*'] };
    const { endpoint } = await createEndpoint(database.db, project.access, input, settings());
    const { id } = endpoint;
    let isDown = true;
    receiver.answer(() => ({ status: isDown ? 503 : 200 }));
    const handle = await env.client.workflow.start('webhookEndpoint', {
      workflowId: workflowIds.webhookEndpoint(project.id, id, 1),
      taskQueue: taskQueues.workflows,
      args: [{ endpointId: id, generation: 1 }],
    });
    for (const event of ['one', 'two', 'three']) await track(event);
    await handle.signal(signalNames.refresh);
    await receiver.received(3);
    const downSince = await env.currentTimeMs();
    await env.sleep(3 * DAY_MS);
    const calls = receiver.requests.length;
    // Nine attempts each within three days.
    expect(calls).to.be.within(20, 30);
    expect(await statuses(id)).to.deep.equal(['PENDING', 'PENDING', 'PENDING']);
    const { failingSince, failureMailed } = (await WebhookEndpoint.query(database.db).findById(id)) as WebhookEndpoint;
    expect(failingSince?.getTime()).to.be.within(downSince - 60_000, downSince + 60_000);
    expect(failureMailed).to.equal(true);
    isDown = false;
    await env.sleep(1.5 * DAY_MS);
    expect(await statuses(id)).to.deep.equal(['DELIVERED', 'DELIVERED', 'DELIVERED']);
    expect(receiver.requests.length).to.equal(calls + 3);
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).to.equal(3);
    expect((await WebhookEndpoint.query(database.db).findById(id))?.failingSince).to.equal(null);
    await deleteEndpoint(database.db, project.access, id);
    await handle.signal(signalNames.refresh);
    await eventually(async () => (await handle.describe()).status.name === 'COMPLETED');
  });
});
