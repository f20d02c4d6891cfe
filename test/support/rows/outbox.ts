// Messages to Temporal as they are queued.
import type { Db } from '../../../db/connect.ts';

export const outboxMessages = (db: Db, where: object = {}) => db('outbox').where(where).orderBy('id');

/** Messages to the workflow whose id contains this one. */
export const outboxMessagesTo = (db: Db, id: string) => db('outbox').whereLike('workflowId', `%${id}%`).orderBy('id');

export const emptyOutbox = (db: Db) => db('outbox').del();

export const setOutbox = (db: Db, columns: object) => db('outbox').update(columns);

export const addOutboxMessage = async (db: Db, columns: object): Promise<string> => {
  const [row] = await db('outbox').insert(columns).returning('id');
  return String(row.id);
};

/** Adds a message that Temporal refused for good. */
export const parkOutboxMessage = (db: Db, columns: object): Promise<string> =>
  addOutboxMessage(db, { lastError: 'no such signal', parkedAt: new Date(), ...columns });

export const parkedMessages = (db: Db) => db('outbox').whereNotNull('parkedAt').orderBy('id');
