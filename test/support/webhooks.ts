// Expands and delivers webhooks inside the test process, without Temporal.
import type { Db } from '../../db/connect.ts';
import { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { createResolver, type Resolver } from '../../platform/http/resolver.ts';
import { readSettings } from '../../platform/settings.ts';
import { completeWebhookEvents } from '../../services/webhooks/complete.ts';
import { deliverSlice, type NextDelivery } from '../../services/webhooks/deliver.ts';
import { createEndpoint, type EndpointInput } from '../../services/webhooks/endpoints.ts';
import { expandWebhookEvents } from '../../services/webhooks/expand.ts';
import { webhookResources } from '../../worker/webhook-resources.ts';
import type { TestProject } from './connected-database.ts';
import { eventually } from './waiting.ts';

const resources = webhookResources(readSettings({}));

/** Does what the relay does, until nothing is queued. */
export async function relayWebhooks(db: Db): Promise<void> {
  while ((await completeWebhookEvents(db, resources)) + (await expandWebhookEvents(db)) > 0);
}

/** Returns what is queued or was expanded for a project, in order. */
export async function webhookEvents(
  db: Db,
  projectId: string,
): Promise<{ id: string; type: string; contactId: string | null; data: Record<string, unknown> }[]> {
  return db('webhookEvents')
    .where({ projectId })
    .orderBy('createdAt')
    .orderBy('id')
    .select('id', 'type', 'contactId', 'data');
}

export interface WebhookDriver {
  settings: ReturnType<typeof readSettings>;
  /** The time of deliveries; moves only when a test moves it. */
  now: Date;
  endpoint(
    project: TestProject,
    input: Partial<EndpointInput> & { url: string },
  ): Promise<WebhookEndpoint & { plainSecret: string }>;
  /** Expands, then visits the endpoint once. */
  deliver(endpointId: string, isOver?: () => boolean): Promise<NextDelivery>;
  stop(): void;
}

export function driveWebhooks(
  db: Db,
  allowedHosts: string[],
  resolver: Resolver = createResolver({ servers: [] }),
): WebhookDriver {
  const settings = readSettings({ WEBHOOK_ALLOWED_HOSTS: allowedHosts.join(',') });
  const driver: WebhookDriver = {
    settings,
    now: new Date(),
    async endpoint(project, input) {
      const { endpoint, secret } = await createEndpoint(
        db,
        project.access,
        { types: ['*', 'event.*'], ...input },
        settings,
      );
      return Object.assign(endpoint, { plainSecret: secret });
    },
    async deliver(endpointId, isOver = () => false) {
      await relayWebhooks(db);
      const { generation } = (await WebhookEndpoint.query(db).findById(endpointId)) ?? { generation: 1 };
      const deps = {
        db,
        resolver,
        allowedHosts,
        keys: settings.secretKeys,
        systemFrom: settings.systemFrom,
        now: () => new Date(Math.max(driver.now.getTime(), Date.now())),
      };
      return deliverSlice(deps, { endpointId, generation }, { isOver, lingerMs: 0 });
    },
    stop: () => resolver.close(),
  };
  return driver;
}

/** Waits until the project's queue of webhooks has `count` events. */
export const queuedWebhooks = (db: Db, projectId: string, count: number) =>
  eventually(
    async () => {
      const events = await webhookEvents(db, projectId);
      return events.length >= count && events;
    },
    { what: `${count} queued webhooks` },
  );
