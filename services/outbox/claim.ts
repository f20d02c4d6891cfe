import type { Db } from '../../db/connect.ts';
import type { Lane } from '../../db/models/outbox-row.ts';
import { statement } from '../../db/statement.ts';
import { turnCtes } from '../../db/turns.ts';
import type { Action } from './write.ts';

/** A claimed row comes back by itself after this long: its relay has died. Longer than carrying out a claim can take. */
const LEASE_SECONDS = 60;

export type ClaimedIntent = Action & { id: string; projectId: string; workflowId: string };

interface Row {
  id: string;
  project_id: string;
  workflow_id: string;
  action: Action['action'];
  payload: Record<string, unknown>;
}

// A row waits until every earlier row of its workflow is gone, parked ones included.
const claim = statement<Row>(
  'outbox-claim',
  `with recursive ${turnCtes({
    table: 'outbox',
    waiting: 'q.lane = $1 and q.parked_at is null',
    eligible: 'q.id = (select e.id from outbox e where e.workflow_id = q.workflow_id order by e.id limit 1)',
    limit: '$2::integer',
  })}
   update outbox set due_at = now() + make_interval(secs => $3)
   from mine where outbox.id = mine.id
   returning outbox.id, project_id, workflow_id, action, payload`,
);

/** Up to `limit` rows of a lane that nobody else has, projects taking turns. */
export async function claimIntents(db: Db, lane: Lane, limit: number): Promise<ClaimedIntent[]> {
  const rows = await claim(db, [lane, limit, LEASE_SECONDS]);
  return rows.map(
    ({ id, project_id, workflow_id, action, payload }) =>
      ({ ...payload, action, id, projectId: project_id, workflowId: workflow_id }) as ClaimedIntent,
  );
}
