import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { statement } from '../../db/statement.ts';
import { conditionOf } from '../conditions/parse.ts';
import { resolveWith, type SegmentSource, together } from '../conditions/resolve.ts';
import type { Condition, ReferencedSegment, Uses } from '../conditions/types.ts';

/** A tracked dynamic segment that nobody edits while it is being evaluated. */
export interface TrackedSegment {
  id: string;
  condition: Condition;
  /** Which of the looks that were asked about are its own. */
  dependencies: ReadonlySet<string>;
}

export interface Held {
  segments: TrackedSegment[];
  /** What they look at, and the segments that they refer to, all together. */
  uses: Uses | undefined;
  referenced: Map<string, ReferencedSegment>;
  /** The database's: all who evaluate go by the same clock. */
  now: Date;
}

interface Row {
  segment_id: string;
  dependencies: string[];
  condition: Record<string, unknown> | null;
  now: Date;
}

/** A segment that is being edited comes without its condition. */
const hold = (wanted: string): string =>
  `with wanted as materialized (
     select segment_id, array_agg(dependency) as dependencies from segment_dependencies
     where project_id = $1 and ${wanted} group by segment_id
   ),
   held as materialized (
     select s.id, s.condition from segments s where s.id in (select segment_id from wanted)
     order by s.id for key share skip locked
   )
   select wanted.segment_id, wanted.dependencies, held.condition, clock_timestamp() as now
   from wanted left join held on held.id = wanted.segment_id`;

const holdLooking = statement<Row>('segments-hold-looking', hold('dependency = any ($2::text[])'));
const holdAll = statement<Row>('segments-hold-all', hold('true'));
const holdThese = statement<Row>('segments-hold-these', hold('segment_id = any ($2::uuid[])'));

/** Those of a project that look at any of these, or all; undefined while one of them is being edited. */
export async function holdLookingAt(
  trx: Db,
  projectId: string,
  dependencies: string[] | 'all',
): Promise<Held | undefined> {
  return heldOf(
    trx,
    projectId,
    await (dependencies === 'all' ? holdAll(trx, [projectId]) : holdLooking(trx, [projectId, dependencies])),
  );
}

export async function holdSegments(trx: Db, projectId: string, ids: string[]): Promise<Held | undefined> {
  return heldOf(trx, projectId, await holdThese(trx, [projectId, ids]));
}

async function heldOf(trx: Db, projectId: string, rows: Row[]): Promise<Held | undefined> {
  const find = references(trx, projectId);
  const held: Held = { segments: [], uses: undefined, referenced: new Map(), now: rows[0]?.now ?? new Date() };
  for (const { segment_id: id, dependencies, condition: tree } of rows) {
    if (!tree) return undefined;
    const { condition, uses, segments } = await resolveWith(conditionOf(tree), find);
    held.segments.push({ id, condition, dependencies: new Set(dependencies) });
    held.uses = held.uses ? together(held.uses, uses) : uses;
    for (const [other, segment] of segments) held.referenced.set(other, segment);
  }
  return held;
}

/** What the segments refer to: each is fetched once, and no other condition of the project is read. */
function references(trx: Db, projectId: string): (ids: string[]) => Promise<SegmentSource[]> {
  const known = new Map<string, SegmentSource>();
  return async (ids) => {
    const missing = ids.filter((id) => !known.has(id));
    const found =
      missing.length > 0
        ? await Segment.query(trx).where({ projectId }).whereIn('id', missing).select('id', 'condition')
        : [];
    for (const segment of found) known.set(segment.id, segment);
    return ids.flatMap((id) => known.get(id) ?? []);
  };
}
