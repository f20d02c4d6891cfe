import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';
import { Slots } from '../../platform/slots.ts';
import type { Lease } from './delivery-lease.ts';
import type { Holder } from './delivery-ledger.ts';
import { insertUnpublishedResults } from './publish-results.ts';

// A mail that hangs or crashes the process while it is composed would do so in every worker that gets its batch. So the
// batch of a lease that ran out is isolated: its mails are composed one at a time, each marked in the batch's row while
// that lasts. Nothing here runs for a batch whose leases were all released.

/** So many composings of a mail that never ended are enough. */
const MOST_MARKS = 2;

export const STUCK_REASON =
  'writing this mail stopped the worker twice; it is not tried again, and no attempt to deliver it was made';

const mark = statement<{ id: string }>(
  'delivery-mark-composing',
  `update delivery_batches set composing = array_append(composing, $3::uuid)
   where id = $1 and lease_token = $2 and lease_until > now() returning id`,
);

// Only while the lease is held: a mail that takes longer to compose than a lease lasts stays marked.
const unmark = statement(
  'delivery-unmark-composing',
  `update delivery_batches set composing = array_remove(composing, $3::uuid)
   where id = $1 and lease_token = $2 and lease_until > now()`,
);

const failStuckStatement = statement<{ id: string }>(
  'delivery-fail-stuck',
  `with stuck as (
     select mail.id from delivery_batches b cross join unnest(b.composing) as mail (id)
     where b.id = $1 and b.lease_token = $2 and b.lease_until > now()
     group by mail.id having count(*) >= ${MOST_MARKS}
   ),
   failed as (
     update emails e set status = 'FAILED', reason = $3, updated_at = now()
     from stuck where e.id = stuck.id and e.batch_id = $1 and e.status = 'PENDING'
     returning e.*
   ),
   result as (${insertUnpublishedResults('failed')})
   select id from failed`,
);

/** Fails the mails of a batch whose composing was cut off too often. Returns their number. */
export async function failStuck(db: Db, { batchId, token }: Holder): Promise<number> {
  return (await failStuckStatement(db, [batchId, token, STUCK_REASON])).length;
}

/** One for the whole process: were two mails marked when it stops, one of them would be blamed for the other. */
const turn = new Slots(1);

/** Composes one mail at a time, marked in the database meanwhile. Returns undefined when the lease is lost. */
export async function composeIsolated<T>(
  db: Db,
  { batchId, token, priority }: Pick<Lease, 'batchId' | 'token' | 'priority'>,
  id: string,
  compose: () => Promise<T>,
): Promise<T | undefined> {
  await turn.take(priority);
  try {
    const [marked] = await mark(db, [batchId, token, id]);
    if (!marked) return undefined;
    try {
      return await compose();
    } finally {
      await unmark(db, [batchId, token, id]).catch(() => {});
    }
  } finally {
    turn.give();
  }
}
