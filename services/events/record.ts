import { type Db, wake } from '../../db/connect.ts';
import { recordingEvents } from '../../db/models/event-writing.ts';
import { arrays, statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';

export interface NewEvent {
  projectId: string;
  contactId: string;
  name: string;
  data?: Record<string, unknown>;
  /** The mail that it is about. */
  emailId?: string | null;
  /** How many workflows deep it was caused; left out: as deep as the transaction says. */
  depth?: number;
}

const record = statement(
  'events-record',
  recordingEvents(
    `select id, project_id, contact_id, name, data, email_id, coalesce(depth, cascade_depth())
     from unnest(${arrays('uuid', 'uuid', 'uuid', 'text', 'jsonb', 'uuid', 'smallint')}) with ordinality
       as given (id, project_id, contact_id, name, data, email_id, depth, place)
     order by place`,
  ),
);

/**
 * The door for events; accepting statements have it inside (`recordingEvents`). One statement, in the given order. The
 * contacts must be locked: of two events of a contact the later one has the higher position. Gives back the ids.
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
