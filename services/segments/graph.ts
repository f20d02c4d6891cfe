import type { Db } from '../../db/connect.ts';
import { sql } from '../../db/sql.ts';
import { queryRows } from '../../db/statement.ts';
import type { Violation } from '../../platform/errors.ts';
import { emailViolations } from '../conditions/email-facts.ts';
import { topicViolations } from '../conditions/topics.ts';
import type { ParsedCondition, Uses } from '../conditions/types.ts';

/** The most filters of a condition, counting those of the segments that it refers to. */
export const MAX_EXPANDED_FILTERS = 1_000;

/** A segment without its condition: only the stored facts about it. */
interface Node {
  id: string;
  name: string;
  slug: string;
  filters: number;
  /** The ids of the segments it refers to, with the number of filters that name each. */
  references: Map<string, number>;
}

interface NodeRow {
  id: string;
  name: string;
  slug: string;
  filterCount: number;
  refersTo: Record<string, number>;
}

/** The segments of a project and what they refer to. */
export class SegmentGraph {
  private readonly nodes: Map<string, Node>;

  private constructor(rows: NodeRow[]) {
    this.nodes = new Map(
      rows.map(({ id, name, slug, filterCount, refersTo }) => [
        id,
        { id, name, slug, filters: filterCount, references: new Map(Object.entries(refersTo)) },
      ]),
    );
  }

  static async of(db: Db, projectId: string): Promise<SegmentGraph> {
    const rows = await queryRows<NodeRow>(
      db,
      sql`select id, name, slug, filter_count, refers_to from segments where project_id = ${projectId} order by id`,
    );
    return new SegmentGraph(rows);
  }

  get slugs(): Set<string> {
    return new Set([...this.nodes.values()].map(({ slug }) => slug));
  }

  /** Adds a segment, or changes what it refers to. */
  put({ id, name, slug }: Pick<Node, 'id' | 'name' | 'slug'>, uses: Uses): void {
    this.nodes.set(id, { id, name, slug, filters: uses.filterCount, references: countsOf(uses) });
  }

  /** Returns what is wrong with the references of a segment, with paths into its condition. */
  violationsOf(id: string, uses: Uses, at: string): Violation[] {
    const dependents = new Set(this.dependentsOf(id));
    const violations = this.referenceViolations(uses, (target) => target === id || dependents.has(target));
    if (violations.length > 0) return violations;
    const sizes = new Map<string, number>();
    const isTooLarge = [id, ...dependents].some((other) => this.expandedSize(other, sizes) > MAX_EXPANDED_FILTERS);
    return isTooLarge ? [tooLarge(at)] : [];
  }

  /** The same for a condition outside a segment, which no segment can refer to. */
  violationsOfTree(uses: Uses, at: string): Violation[] {
    const violations = this.referenceViolations(uses, () => false);
    const isTooLarge = () => this.withReferences(uses.filterCount, countsOf(uses)) > MAX_EXPANDED_FILTERS;
    return violations.length === 0 && isTooLarge() ? [tooLarge(at)] : violations;
  }

  /** Returns the segments that refer to it, directly or through others. */
  dependentsOf(id: string): string[] {
    const users = new Map<string, string[]>();
    for (const { id: user, references } of this.nodes.values())
      for (const target of references.keys()) users.set(target, [...(users.get(target) ?? []), user]);
    return reachable(id, (target) => users.get(target) ?? []).filter((user) => user !== id);
  }

  /** Returns the segments that it refers to, directly or through others. */
  referencesOf(id: string): string[] {
    return reachable(id, (user) => this.nodes.get(user)?.references.keys() ?? []);
  }

  /** Returns the name of a segment that refers to it directly. */
  userOf(id: string): string | undefined {
    return [...this.nodes.values()].find((other) => other.id !== id && other.references.has(id))?.name;
  }

  private referenceViolations({ segments }: Uses, leadsBack: (target: string) => boolean): Violation[] {
    return [...segments].flatMap(([target, paths]) => {
      if (!this.nodes.has(target)) return paths.map((path) => violation(path, 'names a segment that does not exist'));
      return leadsBack(target) ? paths.map((path) => violation(path, 'refers back to this segment')) : [];
    });
  }

  /** Counts the filters with every reference replaced by its condition. Circles have been rejected before. */
  private expandedSize(id: string, known: Map<string, number>): number {
    const before = known.get(id);
    if (before !== undefined) return before;
    const node = this.nodes.get(id);
    const size = node ? this.withReferences(node.filters, node.references, known) : 0;
    known.set(id, size);
    return size;
  }

  private withReferences(own: number, references: Map<string, number>, known = new Map<string, number>()): number {
    let size = own;
    for (const [target, count] of references) size += count * this.expandedSize(target, known);
    return size;
  }
}

const countsOf = ({ segments }: Uses): Map<string, number> =>
  new Map([...segments].map(([id, paths]) => [id, paths.length]));

function reachable(from: string, next: (id: string) => Iterable<string>): string[] {
  const reached = new Set<string>();
  const open = [from];
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const target of next(id))
      if (!reached.has(target)) {
        reached.add(target);
        open.push(target);
      }
  return [...reached];
}

const violation = (field: string, message: string): Violation => ({
  field,
  message: `"${field}" ${message}`,
  code: 'custom',
});

const tooLarge = (at: string): Violation =>
  violation(
    at,
    `has more than ${MAX_EXPANDED_FILTERS} filters, counting those of the segments it refers to or is used by`,
  );

/** Returns what is wrong with the topics, campaigns, templates and steps that a condition refers to. */
export async function namedViolations(db: Db, projectId: string, uses: Uses): Promise<Violation[]> {
  return [...(await topicViolations(db, projectId, uses)), ...(await emailViolations(db, projectId, uses))];
}

/** The same with segments, for a condition outside a segment. */
export async function referenceViolations(
  db: Db,
  projectId: string,
  parsed: ParsedCondition,
  at: string,
): Promise<Violation[]> {
  const violations = await namedViolations(db, projectId, parsed.uses);
  if (violations.length > 0 || parsed.uses.segments.size === 0) return violations;
  return (await SegmentGraph.of(db, projectId)).violationsOfTree(parsed.uses, at);
}
