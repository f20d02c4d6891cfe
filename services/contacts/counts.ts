import type { Db } from '../../db/connect.ts';
import { foldCounts, readCounts } from '../../db/models/contact-counts.ts';
import type { ContactFilter } from './list-query.ts';

/** So many notes are no burden to a reader; beyond, it folds some itself and does not rely on a worker to do it. */
const BURDEN = 2_000;
const FOLD_AT_ONCE = 10_000;

/** Exact, and the same work however many contacts there are. */
export async function countContacts(
  db: Db,
  projectId: string,
  { subscribed }: Pick<ContactFilter, 'subscribed'> = {},
): Promise<number> {
  const counts = await readCounts(db, projectId);
  await lighten(db, projectId, counts.pending);
  if (subscribed === undefined) return counts.contacts;
  return subscribed ? counts.subscribed : counts.contacts - counts.subscribed;
}

export async function lighten(db: Db, projectId: string, pending: number): Promise<void> {
  if (pending > BURDEN) await foldCounts(db, FOLD_AT_ONCE, projectId);
}

/** Housekeeping: adds up what has been noted of all projects. Any number of processes may do it at any time. */
export async function aggregateContactCounts(db: Db): Promise<number> {
  let folded = 0;
  for (;;) {
    const now = await foldCounts(db, FOLD_AT_ONCE);
    folded += now;
    if (now < FOLD_AT_ONCE) return folded;
  }
}
