import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { joined, sql } from '../../db/sql.ts';
import { queryRows, statement } from '../../db/statement.ts';
import { processTimings } from '../../platform/timings.ts';
import { filtersOf } from '../conditions/evaluate.ts';
import { requireCondition } from '../conditions/parse.ts';
import { resolveCondition } from '../conditions/resolve.ts';
import type { Window } from '../conditions/types.ts';
import type { ChangeCounts } from './apply.ts';
import { applyRecounts } from './count.ts';
import { forEachIndependently } from './each.ts';
import { applyToContacts, reconcileSegment } from './reconcile.ts';

/** With this many candidates, comparing all contacts is cheaper. */
const MAX_CANDIDATES = 20_000;

/** Applies what the passing of time has changed since the last sweep, in every tracked segment that depends on time. */
export async function sweepTimeDependentSegments(db: Db): Promise<ChangeCounts> {
  const total: ChangeCounts = { entered: 0, left: 0 };
  await forEachIndependently(await timeDependentSegments(db), async (segment) => {
    const { entered, left } = await sweepSegment(db, segment);
    total.entered += entered;
    total.left += left;
  });
  await applyRecounts(db);
  return total;
}

/** Whether any tracked segment changes by the passing of time alone. */
export async function hasTimeDependentSegments(db: Db): Promise<boolean> {
  return (await timeDependentSegments(db).clearOrder().select('id').limit(1)).length > 0;
}

/** Returns the segment that has waited longest first. */
const timeDependentSegments = (db: Db) =>
  Segment.query(db).where({ trackMembership: true, timeDependent: true, type: 'DYNAMIC' }).orderBy('sweptAt');

const markSwept = statement('segment-swept', 'update segments set swept_at = greatest(swept_at, $2) where id = $1');

async function sweepSegment(db: Db, segment: Segment): Promise<ChangeCounts> {
  const window = await windowOf(db, segment);
  const ids = await findCandidates(db, segment, window);
  const counts =
    ids.length < MAX_CANDIDATES ? await applyToContacts(db, segment, ids) : await reconcileSegment(db, segment);
  await markSwept(db, [segment.id, window.to]);
  return counts;
}

/** Uses the database's clock. Begins 1 ms early, because stored times are finer than a Date. */
async function windowOf(db: Db, { sweptAt }: Segment): Promise<Window> {
  const [row] = await queryRows<{ now: Date }>(db, sql`select clock_timestamp() as now`);
  return { from: new Date(sweptAt.getTime() - 1), to: row?.now ?? new Date() };
}

/** Returns the contacts for which a filter may have changed its answer within the window. */
async function findCandidates(db: Db, { projectId, condition }: Segment, window: Window): Promise<string[]> {
  const { condition: tree, segments, timeZone } = await resolveCondition(db, projectId, requireCondition(condition));
  const subject = { projectId, now: window.to, segments, timeZone, context: {} };
  const selects = filtersOf(tree, segments).flatMap((filter) => filter.drift?.(window, subject) ?? []);
  if (selects.length === 0) return [];
  const rows = await queryRows<{ id: string }>(
    db,
    sql`select id from (${joined(selects, ' union ')}) as candidates (id) limit ${MAX_CANDIDATES}`,
  );
  return rows.map(({ id }) => id);
}

// As text, because a Date is coarser than the column.
const findDue = statement<{ id: string; at: string }>(
  'segments-due',
  'select id, reconcile_at::text as at from segments where reconcile_at <= now() order by reconcile_at',
);

/** Changes nothing where the segment was edited meanwhile: it stays due. */
const reconcileNext = statement(
  'segment-reconcile-next',
  'update segments set reconcile_at = $3 where id = $1 and reconcile_at::text = $2',
);

/** Reconciles the segments that were edited or have just become tracked. */
export async function reconcileDue(db: Db, retryMs = processTimings.segments.retry): Promise<number> {
  const due = await findDue(db);
  const segments = await Segment.query(db).findByIds(due.map(({ id }) => id));
  const byId = new Map(segments.map((segment) => [segment.id, segment]));
  await forEachIndependently(due, async ({ id, at }) => {
    const segment = byId.get(id);
    if (!segment) return;
    try {
      await reconcileSegment(db, segment);
      await reconcileNext(db, [id, at, null]);
    } catch (error) {
      await reconcileNext(db, [id, at, new Date(Date.now() + retryMs)]);
      throw error;
    }
  });
  await applyRecounts(db);
  return due.length;
}
