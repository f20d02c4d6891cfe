import type { Db } from '../../db/connect.ts';
import type { OutboxQueue } from '../../db/models/outbox-queue.ts';
import { roundRobinCtes } from '../../db/round-robin.ts';
import { statement } from '../../db/statement.ts';
import { processTimings } from '../../platform/timings.ts';
import type { Action } from './write.ts';

export type ClaimedMessage = Action & { id: string; projectId: string; workflowId: string };

interface Row {
  id: string;
  projectId: string;
  workflowId: string;
  action: Action['action'];
  payload: Record<string, unknown>;
}

// A row waits until every earlier row of its workflow is deleted, parked ones included. The planner has no useful statistics
// of a queue that fills and empties all the time, and chose full scans: `+ 0` keeps it from scanning the primary key for the
// first row of a workflow, and the array makes it look up the claimed rows instead of joining them.
const claim = statement<Row>(
  'outbox-claim',
  `with recursive ${roundRobinCtes({
    table: 'outbox',
    waiting: 'q.queue = $1 and q.parked_at is null',
    eligible: 'q.id = (select min(e.id + 0) from outbox e where e.workflow_id = q.workflow_id)',
    limit: '$2::integer',
  })}
   update outbox set due_at = now() + make_interval(secs => $3)
   where id = any (array(select id from mine))
   returning id, project_id, workflow_id, action, payload`,
);

/**
 * Claims up to `limit` rows of a queue, projects in round-robin. A claimed row becomes due again after `claimMs`, in case its
 * relay has died. A relay that works on it for longer renews the claim. Two relays that send the same message do no harm:
 * starts are unique, signals and cancels repeatable.
 */
export async function claimOutboxMessages(
  db: Db,
  queue: OutboxQueue,
  limit: number,
  claimMs = processTimings.outboxClaim.claim,
): Promise<ClaimedMessage[]> {
  const rows = await claim(db, [queue, limit, claimMs / 1_000]);
  return rows.map(
    ({ id, projectId, workflowId, action, payload }) =>
      ({ ...payload, action, id, projectId, workflowId }) as ClaimedMessage,
  );
}

const renew = statement(
  'outbox-renew',
  'update outbox set due_at = now() + make_interval(secs => $2) where id = any ($1::bigint[]) and due_at > now()',
);

/** Keeps claimed rows from other relays while their messages are being sent. */
export const renewOutboxClaim = (db: Db, ids: string[], claimMs = processTimings.outboxClaim.claim) =>
  renew(db, [ids, claimMs / 1_000]);
