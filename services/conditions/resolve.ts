import type { Db } from '../../db/connect.ts';
import { Project } from '../../db/models/project.ts';
import { Segment } from '../../db/models/segment.ts';
import { requireCondition } from './parse.ts';
import type { Condition, ParsedCondition, ReferencedSegment, Uses } from './types.ts';

/** A condition with all segments that it refers to, ready for evaluation. */
export interface ResolvedCondition {
  condition: Condition;
  /** What it depends on, itself and through the segments that it refers to. */
  uses: Uses;
  segments: ReadonlyMap<string, ReferencedSegment>;
  /** Of the project, where the condition needs it. */
  timeZone: string;
}

/** What a condition needs of a segment that it refers to. */
export interface SegmentSource {
  id: string;
  condition: Record<string, unknown> | null;
}

/** Loads the segments that a condition refers to, and those that they refer to, level by level. */
export async function resolveCondition(db: Db, projectId: string, parsed: ParsedCondition): Promise<ResolvedCondition> {
  const resolved = await resolveWith(parsed, (ids) =>
    Segment.query(db).where({ projectId }).whereIn('id', ids).select('id', 'condition'),
  );
  return { ...resolved, timeZone: await timeZoneFor(db, projectId, resolved.uses) };
}

/** Returns the time zone of the project, or UTC where none is needed. */
export async function timeZoneFor(
  db: Db,
  projectId: string,
  uses: Pick<Uses, 'needsTimeZone'> | undefined,
): Promise<string> {
  if (!uses?.needsTimeZone) return 'UTC';
  return (await Project.query(db).findById(projectId).select('timezone'))?.timezone ?? 'UTC';
}

export async function resolveWith(
  { condition, uses: own }: ParsedCondition,
  find: (ids: string[]) => PromiseLike<SegmentSource[]>,
): Promise<Omit<ResolvedCondition, 'timeZone'>> {
  const segments = new Map<string, ReferencedSegment>();
  const seen = new Set<string>();
  let uses = own;
  for (let wanted = [...own.segments.keys()]; wanted.length > 0; ) {
    for (const id of wanted) seen.add(id);
    const next = new Set<string>();
    for (const segment of await find(wanted)) {
      const parsed = segment.condition ? requireCondition(segment.condition) : undefined;
      segments.set(segment.id, { condition: parsed?.condition });
      if (!parsed) continue;
      uses = mergeUses(uses, parsed.uses);
      for (const id of parsed.uses.segments.keys()) if (!seen.has(id)) next.add(id);
    }
    wanted = [...next];
  }
  return { condition, uses, segments };
}

export const mergeUses = (one: Uses, two: Uses): Uses => ({
  fields: new Set([...one.fields, ...two.fields]),
  keys: new Set([...one.keys, ...two.keys]),
  events: new Set([...one.events, ...two.events]),
  oldEvents: new Set([...one.oldEvents, ...two.oldEvents]),
  eventCount: Math.max(one.eventCount, two.eventCount),
  testedEvents: [...one.testedEvents, ...two.testedEvents],
  needsTimeZone: one.needsTimeZone || two.needsTimeZone,
  segments: new Map([...two.segments, ...one.segments]),
  topics: new Map([...two.topics, ...one.topics]),
  emailSources: new Map([...two.emailSources, ...one.emailSources]),
  emailQuestions: [...one.emailQuestions, ...two.emailQuestions],
  timeDependent: one.timeDependent || two.timeDependent,
  filterCount: one.filterCount + two.filterCount,
});

/** Returns the ids of referenced segments whose members are stored. */
export const staticSegmentsOf = ({ segments }: Pick<ResolvedCondition, 'segments'>): string[] =>
  [...segments].filter(([, { condition }]) => !condition).map(([id]) => id);
