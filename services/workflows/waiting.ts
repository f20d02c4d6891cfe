import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import type { Data } from '../contacts/data.ts';
import type { ExecutionState } from './execution-state.ts';

/** An event that ends a wait. */
export interface WaitEvent {
  position: string;
  data: Data;
}

// The time only keeps the index scan short. Positions, assigned under the contact's lock, decide which events qualify. An
// event of a long transaction may have a time somewhat before the start.
const findEvent = statement<WaitEvent>(
  'wait-event',
  `select position, data from events
   where project_id = $1 and name = $2 and contact_id = $3 and created_at >= $4::timestamptz - interval '1 hour'
     and position > $5 and ($6::timestamptz is null or created_at <= $6::timestamptz)
   order by position limit 1`,
);

/** Returns the first event that ends a wait. Events after the time-out do not qualify. */
export async function findWaitEvent(
  trx: Db,
  execution: ExecutionState,
  name: string,
  until: Date | null,
): Promise<WaitEvent | undefined> {
  const { projectId, contactId, startedAt, afterPosition } = execution;
  const [event] = await findEvent(trx, [projectId, name, contactId, startedAt, afterPosition, until]);
  return event;
}

const findLastPosition = statement<{ position: string | null }>(
  'wait-last-position',
  `select max(position) as position from events
   where project_id = $1 and contact_id = $2 and ($3::timestamptz is null or created_at <= $3::timestamptz)
     and created_at >= $4::timestamptz - interval '1 hour'`,
);

/**
 * Returns the position up to which events no longer qualify after a sleep that ended at `endedAt`, or ends now. Uses the
 * scheduled end, so that events during an outage of the worker count as later.
 */
export async function positionAfter(trx: Db, execution: ExecutionState, endedAt: Date | null): Promise<string> {
  const { projectId, contactId, afterPosition, startedAt } = execution;
  const [row] = await findLastPosition(trx, [projectId, contactId, endedAt, startedAt]);
  return BigInt(row?.position ?? 0) > BigInt(afterPosition) ? String(row?.position) : afterPosition;
}
