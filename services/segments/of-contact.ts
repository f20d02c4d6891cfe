import type { Db } from '../../db/connect.ts';
import { Segment } from '../../db/models/segment.ts';
import { openCursor, signCursor } from '../../platform/crypto/cursor.ts';
import type { SigningKeys } from '../../platform/crypto/signed-token.ts';
import { decides } from '../conditions/evaluate.ts';
import { loadFacts } from '../conditions/facts.ts';
import { requireCondition } from '../conditions/parse.ts';
import { mergeUses, type ResolvedCondition, resolveWith, timeZoneFor } from '../conditions/resolve.ts';
import type { Uses } from '../conditions/types.ts';
import { type CursorPage, cutPage } from '../paging.ts';

/** Lists the segments that a contact is in now, newest first. */
export async function listSegmentsOfContact(
  db: Db,
  projectId: string,
  contactId: string,
  keys: SigningKeys,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<CursorPage<Segment>> {
  const boundTo = [projectId, 'segments of', contactId];
  const after = cursor === undefined ? undefined : (openCursor(keys, boundTo, cursor) as string);
  const all = await segmentsOfContact(db, projectId, contactId);
  const rows = all.filter(({ id }) => after === undefined || id < after).slice(0, limit + 1);
  const total = after === undefined ? all.length : 0;
  return cutPage(rows, { limit, total, cursorAfter: ({ id }) => signCursor(keys, boundTo, id) });
}

/** Evaluates every segment of the project, of which there are few, with the facts of one contact, read at once. */
export async function segmentsOfContact(db: Db, projectId: string, contactId: string): Promise<Segment[]> {
  const segments = await Segment.query(db).where({ projectId }).orderBy('id', 'desc');
  const known = new Map(segments.map((segment) => [segment.id, segment]));
  const find = async (ids: string[]) => ids.flatMap((id) => known.get(id) ?? []);
  const resolved = new Map<string, Pick<ResolvedCondition, 'condition' | 'segments'>>();
  let uses: Uses | undefined;
  for (const { id, condition } of segments) {
    if (!condition) continue;
    const one = await resolveWith(requireCondition(condition), find);
    resolved.set(id, one);
    uses = uses ? mergeUses(uses, one.uses) : one.uses;
  }
  const segmentIds = segments.filter(({ condition }) => !condition).map(({ id }) => id);
  const none = {
    events: new Set<string>(),
    oldEvents: new Set<string>(),
    eventCount: 1,
    testedEvents: [],
    topics: new Map<string, string[]>(),
    emailQuestions: [],
  };
  const now = new Date();
  const timeZone = await timeZoneFor(db, projectId, uses);
  const query = { projectId, contactIds: [contactId], uses: uses ?? none, segmentIds, now, timeZone };
  const loaded = await loadFacts(db, query);
  const facts = loaded.get(contactId);
  if (!facts) return [];
  return segments.filter(({ id }) => {
    const own = resolved.get(id);
    if (!own) return facts.staticSegments.has(id);
    return decides(own.condition, { ...facts, segments: own.segments, timeZone, context: {}, now });
  });
}
