// A queue of groups that are served in round-robin. Within a group, first in, first out among the items that may leave.

interface Entry<T> {
  item: T;
  /** Counts up with each item that is put, and down with each that is put first. */
  position: number;
}

/** The items of a group that may leave, or may not, together. Never empty. */
interface Lane<T> {
  key: string;
  entries: Entry<T>[];
}

/** `lanes` are ordered by the positions of their first items. */
interface Group<T> {
  lanes: Lane<T>[];
  byKey: Map<string, Lane<T>>;
}

/** Taking an item costs the same however many items wait: a lane whose first item may not leave is skipped as a whole. */
export class FairQueue<T> {
  private readonly groups = new Map<string, Group<T>>();
  private readonly laneOf: (item: T) => string;
  private last = 0;
  private first = 0;
  size = 0;

  /** `laneOf`: items with the same value may always leave together. */
  constructor(laneOf: (item: T) => string) {
    this.laneOf = laneOf;
  }

  put(group: string, item: T): void {
    this.insert(this.groupOf(group), { item, position: ++this.last });
    this.size++;
  }

  putFirst(group: string, item: T): void {
    const { lanes, byKey } = this.groupOf(group);
    const entry = { item, position: --this.first };
    const key = this.laneOf(item);
    const lane = byKey.get(key) ?? { key, entries: [] };
    lane.entries.unshift(entry);
    byKey.set(key, lane);
    const index = lanes.indexOf(lane);
    if (index >= 0) lanes.splice(index, 1);
    lanes.unshift(lane);
    this.size++;
  }

  /** Removes and returns the first item that may leave, the group of the last one served last. */
  take(mayLeave: (item: T) => boolean): T | undefined {
    for (const [name, group] of this.groups) {
      for (const [index, { entries }] of group.lanes.entries()) {
        const [first] = entries;
        if (!first || !mayLeave(first.item)) continue;
        removeFirst(group, index);
        this.size--;
        // Moves the group to the end of the map.
        this.groups.delete(name);
        if (group.lanes.length > 0) this.groups.set(name, group);
        return first.item;
      }
    }
    return undefined;
  }

  /** Removes and returns the items that this is true of. It is asked from the last to the first item of each group. */
  takeThose(leaves: (item: T) => boolean): T[] {
    const taken: T[] = [];
    for (const [name, group] of [...this.groups]) {
      const entries = entriesOf(group);
      const leaving = new Set(entries.toReversed().filter(({ item }) => leaves(item)));
      if (leaving.size === 0) continue;
      taken.push(...[...leaving].map(({ item }) => item));
      const left: Group<T> = { lanes: [], byKey: new Map() };
      for (const entry of entries) if (!leaving.has(entry)) this.insert(left, entry);
      if (left.lanes.length > 0) this.groups.set(name, left);
      else this.groups.delete(name);
    }
    this.size -= taken.length;
    return taken;
  }

  takeGroup(name: string): T[] {
    const group = this.groups.get(name);
    if (!group) return [];
    this.groups.delete(name);
    const items = entriesOf(group).map(({ item }) => item);
    this.size -= items.length;
    return items;
  }

  takeAll(): T[] {
    return [...this.groups.keys()].flatMap((group) => this.takeGroup(group));
  }

  private groupOf(name: string): Group<T> {
    const known = this.groups.get(name);
    if (known) return known;
    const group: Group<T> = { lanes: [], byKey: new Map() };
    this.groups.set(name, group);
    return group;
  }

  /** Adds an entry that comes after all others of the group. */
  private insert({ lanes, byKey }: Group<T>, entry: Entry<T>): void {
    const key = this.laneOf(entry.item);
    const lane = byKey.get(key);
    if (lane) {
      lane.entries.push(entry);
      return;
    }
    const added = { key, entries: [entry] };
    byKey.set(key, added);
    lanes.push(added);
  }
}

function entriesOf<T>({ lanes }: Group<T>): Entry<T>[] {
  return lanes.flatMap(({ entries }) => entries).sort((a, b) => a.position - b.position);
}

/** Removes the first item of a lane, and moves the lane to where its next one belongs. */
function removeFirst<T>({ lanes, byKey }: Group<T>, index: number): void {
  const [lane] = lanes.splice(index, 1);
  if (!lane) return;
  lane.entries.shift();
  const [next] = lane.entries;
  if (!next) {
    byKey.delete(lane.key);
    return;
  }
  let low = index;
  let high = lanes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lanes[middle]?.entries[0]?.position ?? 0) < next.position) low = middle + 1;
    else high = middle;
  }
  lanes.splice(low, 0, lane);
}
