import type { Db } from '../../db/connect.ts';
import { Segment, type SegmentType } from '../../db/models/segment.ts';
import { newId } from '../../platform/ids.ts';
import { UNLIMITED } from '../../platform/limits.ts';
import type { ProjectAccess } from '../access/keys.ts';
import { requireBelowLimit } from '../access/resource-limit.ts';
import { changesOf, recordAudit } from '../audit/record.ts';
import { invalidCondition, requireCondition } from '../conditions/parse.ts';
import type { Uses } from '../conditions/types.ts';
import { recount } from './count.ts';
import { findSegment } from './find.ts';
import { namedViolations, SegmentGraph } from './graph.ts';
import { withSegmentsLock } from './lock.ts';
import { storeCurrentMembers, storeDependencies } from './tracking.ts';
import { storedUses } from './uses.ts';

export interface NewSegment {
  name: string;
  description?: string | null | undefined;
  type?: SegmentType | undefined;
  /** A condition tree; ignored on a static segment. */
  condition?: unknown;
  trackMembership?: boolean | undefined;
}

export async function createSegment(
  db: Db,
  project: ProjectAccess,
  input: NewSegment,
  { segments: max } = UNLIMITED,
  /** Inserts the members of a static segment, in the transaction that creates it. */
  fill?: (trx: Db, id: string) => Promise<void>,
): Promise<Segment> {
  const { projectId } = project;
  const type = input.type ?? 'DYNAMIC';
  // Validated before any lock, so that an invalid request does not wait.
  const uses = type === 'DYNAMIC' ? requireCondition(input.condition, { at: 'condition' }).uses : undefined;
  const created = await withSegmentsLock(db, project, async (trx) => {
    await requireBelowLimit(trx, { what: 'segments', projectId, max });
    const graph = await SegmentGraph.of(trx, projectId);
    const segment = await Segment.query(trx).insertAndFetch({
      id: newId(),
      projectId,
      slug: freeSlug(slugOf(input.name), graph.slugs),
      name: input.name,
      description: input.description ?? null,
      type,
      condition: type === 'DYNAMIC' ? (input.condition as Segment['condition']) : null,
      trackMembership: input.trackMembership ?? false,
      countedAt: type === 'STATIC' ? new Date() : null,
      ...storedUses(uses),
    });
    if (uses) await connect(trx, segment, uses, graph);
    await fill?.(trx, segment.id);
    await recordAudit(trx, project, {
      action: 'segment.created',
      target: { type: 'segment', id: segment.id },
      changes: changesOf({}, { name: segment.name }),
    });
    return segment;
  });
  if (type === 'STATIC') return fill ? findSegment(db, projectId, created.id) : created;
  return created.trackMembership ? findSegment(db, projectId, created.id) : recount(db, created);
}

/** Validates the references of a new segment and stores its dependencies and members. */
async function connect(trx: Db, segment: Segment, uses: Uses, graph: SegmentGraph): Promise<void> {
  graph.put(segment, uses);
  const violations = [
    ...graph.violationsOf(segment.id, uses, 'condition'),
    ...(await namedViolations(trx, segment.projectId, uses)),
  ];
  if (violations.length > 0) throw invalidCondition(violations);
  await storeDependencies(trx, segment, graph);
  if (segment.trackMembership) await storeCurrentMembers(trx, segment);
}

const MAX_LENGTH = 100;

/** Turns `VIP Customers` into `vip-customers`, `Ärzte & Co.` into `arzte-co`. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, '');
  return slug || 'segment';
}

/** Returns the slug, or the slug with the first free number from 2 on. */
function freeSlug(slug: string, taken: ReadonlySet<string>): string {
  if (!taken.has(slug)) return slug;
  for (let n = 2; ; n++) if (!taken.has(`${slug}-${n}`)) return `${slug}-${n}`;
}
