import type { Fault } from '../../platform/errors.ts';
import { conditionOf } from '../conditions/parse.ts';
import { resolveWith, type SegmentSource } from '../conditions/resolve.ts';
import type { ParsedCondition, Uses } from '../conditions/types.ts';

/** With everything that they refer to put in place, conditions may grow to this many filters. */
export const MAX_EXPANDED_FILTERS = 1_000;

interface Node {
  source: SegmentSource;
  parsed: ParsedCondition | undefined;
}

/** The segments of a project and what they refer to. */
export class SegmentGraph {
  private readonly nodes: Map<string, Node>;

  constructor(sources: SegmentSource[]) {
    this.nodes = new Map(
      sources.map((source) => [
        source.id,
        { source, parsed: source.condition ? conditionOf(source.condition, { at: 'condition' }) : undefined },
      ]),
    );
  }

  /** What is wrong with the references of one of them; paths are those of its own tree. */
  faultsOf(id: string, at: string): Fault[] {
    const faults: Fault[] = [];
    const tell = (field: string, message: string) =>
      faults.push({ field, message: `"${field}" ${message}`, code: 'custom' });
    for (const [target, paths] of this.references(id))
      for (const path of paths) {
        if (!this.nodes.has(target)) tell(path, 'names a segment that is not there');
        else if (target === id || this.reachableFrom(target).has(id)) tell(path, 'leads back to this segment itself');
      }
    if (faults.length === 0)
      for (const one of [id, ...this.dependentsOf(id)])
        if (this.expandedSize(one) > MAX_EXPANDED_FILTERS) {
          tell(
            at,
            `has more than ${MAX_EXPANDED_FILTERS} filters, counting those of the segments it refers to or is used by`,
          );
          break;
        }
    return faults;
  }

  /** Those that refer to it, directly or through others. */
  dependentsOf(id: string): string[] {
    return [...this.nodes.keys()].filter((other) => other !== id && this.reachableFrom(other).has(id));
  }

  /** Those that refer to it directly. */
  usersOf(id: string): string[] {
    return [...this.nodes.keys()].filter((other) => this.references(other).has(id));
  }

  /** What one of them looks at, by itself and through others. */
  async usesOf(id: string): Promise<Uses | undefined> {
    const parsed = this.nodes.get(id)?.parsed;
    if (!parsed) return undefined;
    const resolved = await resolveWith(parsed, async (ids) =>
      ids.flatMap((other) => this.nodes.get(other)?.source ?? []),
    );
    return resolved.uses;
  }

  private references(id: string): Map<string, string[]> {
    return this.nodes.get(id)?.parsed?.uses.segments ?? new Map();
  }

  private reachableFrom(id: string): Set<string> {
    const reached = new Set<string>();
    const open = [id];
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const target of this.references(next).keys())
        if (!reached.has(target)) {
          reached.add(target);
          open.push(target);
        }
    return reached;
  }

  /** Every reference is replaced by the condition it stands for, as often as it stands there. No circles by now. */
  private expandedSize(id: string, known = new Map<string, number>()): number {
    const before = known.get(id);
    if (before !== undefined) return before;
    let size = this.nodes.get(id)?.parsed?.uses.filterCount ?? 0;
    for (const [target, paths] of this.references(id)) size += paths.length * this.expandedSize(target, known);
    known.set(id, size);
    return size;
  }
}
