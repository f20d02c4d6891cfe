import type { Db } from '../../db/connect.ts';
import { applyContactChanges } from './changes.ts';
import { applyRecounts } from './recounts.ts';

/** Housekeeping: everything that was noted is settled, as far as nobody stands in the way. */
export async function followChanges(db: Db): Promise<number> {
  let all = 0;
  for (;;) {
    const done = await applyContactChanges(db);
    await applyRecounts(db);
    if (done === 0) return all;
    all += done;
  }
}
