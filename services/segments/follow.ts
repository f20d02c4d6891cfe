import type { Db } from '../../db/connect.ts';
import { applyContactChanges } from './changes.ts';
import { applyRecounts } from './count.ts';

/** Housekeeping: applies all recorded changes of contacts, except those of locked contacts and segments. */
export async function applyAllContactChanges(db: Db): Promise<number> {
  let total = 0;
  for (;;) {
    const applied = await applyContactChanges(db);
    await applyRecounts(db);
    if (applied === 0) return total;
    total += applied;
  }
}
