import type { Db } from '../../../db/connect.ts';
import { newId } from '../../../platform/ids.ts';

export const storedEndpoints = (db: Db, where: object) => db('webhookEndpoints').where(where);

export const setEndpoints = (db: Db, where: object, columns: object) =>
  db('webhookEndpoints').where(where).update(columns);

export const storedDeliveries = (db: Db, where: object) => db('webhookDeliveries').where(where);

export const setDeliveries = (db: Db, where: object, columns: object) =>
  db('webhookDeliveries').where(where).update(columns);

/** Webhooks that are not expanded to deliveries yet. */
export const queuedWebhookRows = (db: Db, projectId: string) => db('webhookQueue').where({ projectId });

export const storedWebhookEvents = (db: Db, where: object) => db('webhookEvents').where(where);

/** Streams of `everpost webhooks listen`. */
export const openListeners = (db: Db, projectId: string) => db('webhookListeners').where({ projectId });

/** Lets days pass for the webhooks of a project. */
export async function moveWebhooksBack(db: Db, projectId: string, days: number): Promise<void> {
  for (const table of ['webhookEvents', 'webhookDeliveries'])
    await db(table)
      .where({ projectId })
      .update({ createdAt: db.raw('now() - make_interval(days => ?)', [days]) });
}

export const queueWebhook = (db: Db, columns: object) => db('webhookQueue').insert(columns);

export const storedWebhookSecrets = (db: Db, projectId: string) => db('webhookSecrets').where({ projectId });

/** Stores a payload of a contact, and returns it as it is after the contact is deleted. */
export async function erasedPayload(db: Db, projectId: string, type: string, data: object): Promise<object> {
  const id = newId();
  const contactId = newId();
  await db('webhookEvents').insert({ id, projectId, type, contactId, data: JSON.stringify(data) });
  await db.raw('select erase_webhook_payloads(?, array[?]::uuid[], array[]::text[])', [projectId, contactId]);
  return (await storedWebhookEvents(db, { projectId, id }).first()).data;
}
