import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { statement } from '../../db/statement.ts';
import { requireCondition } from '../conditions/parse.ts';
import { mergeUses, resolveWith, type SegmentSource, timeZoneFor } from '../conditions/resolve.ts';
import type { Condition, ReferencedSegment, Uses } from '../conditions/types.ts';

/** A tracked dynamic segment, locked against edits while it is being evaluated. */
export interface TrackedSegment {
  id: string;
  condition: Condition;
  /** Its dependencies among those that were asked for. */
  dependencies: ReadonlySet<string>;
}

export interface LockedSegments {
  segments: TrackedSegment[];
  /** What all of them together use. */
  uses: Uses | undefined;
  /** The segments that they refer to. */
  referenced: Map<string, ReferencedSegment>;
  /** Of the project, where a condition needs it. */
  timeZone: string;
  /** The database's clock, so that all processes evaluate by the same one. */
  now: Date;
}

interface Row {
  segmentId: string;
  dependencies: string[];
  condition: Record<string, unknown> | null;
  now: Date;
}

/** Returns a segment that is being edited without its condition. */
const lockText = (wanted: string): string =>
  `with wanted as materialized (
     select segment_id, array_agg(dependency) as dependencies from segment_dependencies
     where project_id = $1 and ${wanted} group by segment_id
   ),
   locked as materialized (
     select s.id, s.condition from segments s where s.id in (select segment_id from wanted)
     order by s.id for key share skip locked
   )
   select wanted.segment_id, wanted.dependencies, locked.condition, clock_timestamp() as now
   from wanted left join locked on locked.id = wanted.segment_id`;

const lockByDependency = statement<Row>('segments-lock-by-dependency', lockText('dependency = any ($2::text[])'));
const lockAll = statement<Row>('segments-lock-all', lockText('true'));
const lockById = statement<Row>('segments-lock-by-id', lockText('segment_id = any ($2::uuid[])'));

/** Locks the project's tracked segments with any of these dependencies. Undefined while one of them is being edited. */
export async function lockDependentSegments(
  trx: Db,
  projectId: string,
  dependencies: string[] | 'all',
): Promise<LockedSegments | undefined> {
  return resolveRows(
    trx,
    projectId,
    await (dependencies === 'all' ? lockAll(trx, [projectId]) : lockByDependency(trx, [projectId, dependencies])),
  );
}

/** Locks tracked segments. Undefined while one of them is being edited. */
export async function lockSegments(trx: Db, projectId: string, ids: string[]): Promise<LockedSegments | undefined> {
  return resolveRows(trx, projectId, await lockById(trx, [projectId, ids]));
}

async function resolveRows(trx: Db, projectId: string, rows: Row[]): Promise<LockedSegments | undefined> {
  const find = segmentLoader(trx, projectId);
  const locked: LockedSegments = {
    segments: [],
    uses: undefined,
    referenced: new Map(),
    timeZone: 'UTC',
    now: rows[0]?.now ?? new Date(),
  };
  for (const { segmentId: id, dependencies, condition: tree } of rows) {
    if (!tree) return undefined;
    const { condition, uses, segments } = await resolveWith(requireCondition(tree), find);
    locked.segments.push({ id, condition, dependencies: new Set(dependencies) });
    locked.uses = locked.uses ? mergeUses(locked.uses, uses) : uses;
    for (const [other, segment] of segments) locked.referenced.set(other, segment);
  }
  return { ...locked, timeZone: await timeZoneFor(trx, projectId, locked.uses) };
}

/** Loads referenced segments, each once, and no other segment of the project. */
function segmentLoader(trx: Db, projectId: string): (ids: string[]) => Promise<SegmentSource[]> {
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
