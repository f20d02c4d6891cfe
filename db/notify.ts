import type { Db } from './db.ts';
import { statement } from './statement.ts';

const send = statement('notify', 'select pg_notify($1, $2)');

/** NOTIFY. Inside a transaction it is sent with the commit. */
export async function notify(db: Db, channel: string, payload: string): Promise<void> {
  await send(db, [channel, payload]);
}
