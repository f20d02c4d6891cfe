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

/** Ids, each with the paths of the filters that name it. */
type References = ReadonlyMap<string, string[]>;

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
    const faults = this.faultsIn(this.references(id), (target) => target === id || this.reachableFrom(target).has(id));
    if (faults.length > 0) return faults;
    const isTooLarge = [id, ...this.dependentsOf(id)].some((one) => this.expandedSize(one) > MAX_EXPANDED_FILTERS);
    return isTooLarge ? [tooLarge(at)] : [];
  }

  /** The same for a tree that is no segment's, so that nothing can lead back to it. */
  faultsOfTree({ uses }: ParsedCondition, at: string): Fault[] {
    const faults = this.faultsIn(uses.segments, () => false);
    const isTooLarge = () => this.withReferences(uses.filterCount, uses.segments) > MAX_EXPANDED_FILTERS;
    return faults.length === 0 && isTooLarge() ? [tooLarge(at)] : faults;
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

  private references(id: string): References {
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

  private faultsIn(references: References, leadsBack: (target: string) => boolean): Fault[] {
    return [...references].flatMap(([target, paths]) => {
      if (!this.nodes.has(target)) return paths.map((path) => fault(path, 'names a segment that is not there'));
      return leadsBack(target) ? paths.map((path) => fault(path, 'leads back to this segment itself')) : [];
    });
  }

  /** Every reference is replaced by the condition it stands for, as often as it stands there. No circles by now. */
  private expandedSize(id: string, known = new Map<string, number>()): number {
    const before = known.get(id);
    if (before !== undefined) return before;
    const own = this.nodes.get(id)?.parsed?.uses.filterCount ?? 0;
    const size = this.withReferences(own, this.references(id), known);
    known.set(id, size);
    return size;
  }

  private withReferences(own: number, references: References, known = new Map<string, number>()): number {
    return [...references].reduce(
      (size, [target, paths]) => size + paths.length * this.expandedSize(target, known),
      own,
    );
  }
}

const fault = (field: string, message: string): Fault => ({ field, message: `"${field}" ${message}`, code: 'custom' });

const tooLarge = (at: string): Fault =>
  fault(at, `has more than ${MAX_EXPANDED_FILTERS} filters, counting those of the segments it refers to or is used by`);
