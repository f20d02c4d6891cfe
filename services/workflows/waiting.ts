import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Data } from '../contacts/data.ts';
import type { ExecutionState } from './execution-state.ts';

export interface CountingEvent {
  position: string;
  data: Data;
}

// The time keeps the walk over the index short; which events count is decided by their positions, given out under the
// contact's lock. An event of a long transaction may carry a time somewhat before the start.
const find = statement<CountingEvent>(
  'wait-event',
  `select position, data from events
   where project_id = $1 and name = $2 and contact_id = $3 and created_at >= $4::timestamptz - interval '1 hour'
     and position > $5 and ($6::timestamptz is null or created_at <= $6::timestamptz)
   order by position limit 1`,
);

/** The first event that ends a wait for it, if there is one by now; what came after the time-out does not. */
export async function countingEvent(
  trx: Db,
  execution: ExecutionState,
  name: string,
  until: Date | null,
): Promise<CountingEvent | undefined> {
  const { projectId, contactId, startedAt, afterPosition } = execution;
  const [event] = await find(trx, [projectId, name, contactId, startedAt, afterPosition, until]);
  return event;
}

const last = statement<{ position: string | null }>(
  'wait-last-position',
  `select max(position) as position from events
   where project_id = $1 and contact_id = $2 and ($3::timestamptz is null or created_at <= $3::timestamptz)
     and created_at >= $4::timestamptz - interval '1 hour'`,
);

/**
 * Up to where events no longer count after a sleep that ended at a time, or ends now. Going by the time for which it was
 * set: when its worker was away, what came meanwhile came after it.
 */
export async function positionAfter(trx: Db, execution: ExecutionState, ended: Date | null): Promise<string> {
  const { projectId, contactId, afterPosition, startedAt } = execution;
  const [row] = await last(trx, [projectId, contactId, ended, startedAt]);
  return BigInt(row?.position ?? 0) > BigInt(afterPosition) ? String(row?.position) : afterPosition;
}
