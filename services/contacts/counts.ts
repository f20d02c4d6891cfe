import type { Db } from '../../db/connect.ts';
import { aggregateContactDeltas, readContactCounts } from '../../db/models/contact-counts.ts';
import type { ContactFilter } from './list-query.ts';

/** With more deltas than this a reader aggregates some itself, in case no worker does. */
const MAX_PENDING = 2_000;
const BATCH_SIZE = 10_000;

/** Returns the exact number. The cost does not depend on the number of contacts. */
export async function countContacts(
  db: Db,
  projectId: string,
  { subscribed }: Pick<ContactFilter, 'subscribed'> = {},
): Promise<number> {
  const counts = await readContactCounts(db, projectId);
  await aggregateContactBacklog(db, projectId, counts.pending);
  if (subscribed === undefined) return counts.contacts;
  return subscribed ? counts.subscribed : counts.contacts - counts.subscribed;
}

export async function aggregateContactBacklog(db: Db, projectId: string, pending: number): Promise<void> {
  if (pending > MAX_PENDING) await aggregateContactDeltas(db, BATCH_SIZE, projectId);
}

/** Housekeeping: aggregates the deltas of all projects. Safe to run in several processes at once. */
export async function aggregateContactCounts(db: Db): Promise<number> {
  let total = 0;
  for (;;) {
    const aggregated = await aggregateContactDeltas(db, BATCH_SIZE);
    total += aggregated;
    if (aggregated < BATCH_SIZE) return total;
  }
}
