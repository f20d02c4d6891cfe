import { type Db, wake } from '../../db/connect.ts';
import { insertEventsSql } from '../../db/models/event-writing.ts';
import { arrays, statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';

export interface NewEvent {
  projectId: string;
  contactId: string;
  name: string;
  data?: Record<string, unknown>;
  /** The mail that the event is about. */
  emailId?: string | null;
  /** The number of workflows in the chain that caused it. Undefined: the depth of the transaction (`cascade_depth`). */
  depth?: number;
}

const record = statement(
  'events-record',
  insertEventsSql(
    `select id, project_id, contact_id, name, data, email_id, coalesce(depth, cascade_depth())
     from unnest(${arrays('uuid', 'uuid', 'uuid', 'text', 'jsonb', 'uuid', 'smallint')}) with ordinality
       as given (id, project_id, contact_id, name, data, email_id, depth, n)
     order by n`,
  ),
);

/**
 * Records events in one statement, in the given order, and returns their ids. Statements that record events themselves use
 * `recordingEvents`. The contacts must be locked, so that a later event of a contact has a higher position.
 */
export async function recordEvents(trx: Db, events: NewEvent[]): Promise<string[]> {
  if (events.length === 0) return [];
  const ids = events.map(() => newId());
  await record(trx, [
    ids,
    events.map(({ projectId }) => projectId),
    events.map(({ contactId }) => contactId),
    events.map(({ name }) => name),
    events.map(({ data }) => JSON.stringify(data ?? {})),
    events.map(({ emailId }) => emailId ?? null),
    events.map(({ depth }) => depth ?? null),
  ]);
  wake(trx, 'events');
  return ids;
}
