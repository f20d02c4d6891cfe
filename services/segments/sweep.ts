import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { joined, run, sql } from '../conditions/fragment.ts';
import { conditionOf } from '../conditions/parse.ts';
import { filtersOf } from '../conditions/read.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import type { Window } from '../conditions/types.ts';
import type { Moved } from './apply.ts';
import { eachOnItsOwn } from './each.ts';
import { reconcile, settleThese } from './reconcile.ts';
import { applyRecounts } from './recounts.ts';

/** When time has moved more contacts than this, looking at everybody is cheaper. */
const MANY = 20_000;
const RETRY_MS = 60_000;

/** Settles what time alone has changed since the last sweep, in every tracked segment whose condition drifts. */
export async function sweepDrifting(db: Db): Promise<Moved> {
  const total: Moved = { entered: 0, left: 0 };
  await eachOnItsOwn(await drifting(db), async (segment) => {
    const { entered, left } = await sweepSegment(db, segment);
    total.entered += entered;
    total.left += left;
  });
  await applyRecounts(db);
  return total;
}

/** The one that has waited longest comes first. */
const drifting = (db: Db) =>
  Segment.query(db).where({ trackMembership: true, timeDependent: true, type: 'DYNAMIC' }).orderBy('sweptAt');

async function sweepSegment(db: Db, segment: Segment): Promise<Moved> {
  const window = await windowOf(db, segment);
  const ids = await passedBy(db, segment, window);
  const moved = ids.length < MANY ? await settleThese(db, segment, ids) : await reconcile(db, segment);
  await Segment.query(db)
    .findById(segment.id)
    .patch({ sweptAt: Segment.raw('greatest(swept_at, ?)', [window.to]) });
  return moved;
}

/** By the database's clock. Stored times are finer than ours, so the window begins a little earlier. */
async function windowOf(db: Db, { sweptAt }: Segment): Promise<Window> {
  const [row] = await run<{ now: Date }>(db, sql`select clock_timestamp() as now`);
  return { from: new Date(sweptAt.getTime() - 1), to: row?.now ?? new Date() };
}

async function passedBy(db: Db, { projectId, condition }: Segment, window: Window): Promise<string[]> {
  const { condition: tree, segments } = await resolveCondition(db, projectId, conditionOf(condition));
  const question = { projectId, now: window.to, segments, context: {} };
  const selects = filtersOf(tree, segments).flatMap((filter) => filter.drift?.(window, question) ?? []);
  if (selects.length === 0) return [];
  const rows = await run<{ id: string }>(
    db,
    sql`select id from (${joined(selects, ' union ')}) as passed (id) limit ${MANY}`,
  );
  return rows.map(({ id }) => id);
}

/** Segments that must be looked at as a whole: edited ones, and those that have just become tracked. */
export async function reconcileDue(db: Db): Promise<number> {
  const due = await Segment.query(db)
    .where('reconcileAt', '<=', db.fn.now())
    .orderBy('reconcileAt')
    .select('*', db.raw('reconcile_at::text as due'));
  await eachOnItsOwn(due as (Segment & { due: string })[], async (segment) => {
    // Edited meanwhile, it is due again. As text, because a Date is coarser than the column.
    const mine = Segment.query(db).where({ id: segment.id }).whereRaw('reconcile_at::text = ?', [segment.due]);
    try {
      await reconcile(db, segment);
      await mine.patch({ reconcileAt: null });
    } catch (error) {
      await mine.patch({ reconcileAt: new Date(Date.now() + RETRY_MS) });
      throw error;
    }
  });
  await applyRecounts(db);
  return due.length;
}
