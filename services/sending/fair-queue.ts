/** A queue of groups that are served in round-robin; within a group, first in, first out. */
export class FairQueue<T> {
  private readonly groups = new Map<string, T[]>();
  size = 0;

  put(group: string, item: T): void {
    const items = this.groups.get(group);
    if (items) items.push(item);
    else this.groups.set(group, [item]);
    this.size++;
  }

  putFirst(group: string, item: T): void {
    this.groups.set(group, [item, ...(this.groups.get(group) ?? [])]);
    this.size++;
  }

  /** Removes and returns the first item that may leave, the group of the last one served last. */
  take(mayLeave: (item: T) => boolean): T | undefined {
    for (const [group, items] of this.groups) {
      for (const [index, item] of items.entries()) {
        if (!mayLeave(item)) continue;
        if (index === 0) items.shift();
        else items.splice(index, 1);
        this.size--;
        // Moves the group to the end of the map.
        this.groups.delete(group);
        if (items.length > 0) this.groups.set(group, items);
        return item;
      }
    }
    return undefined;
  }

  /** Removes and returns the items that this is true of. It is asked from the last to the first item of each group. */
  takeThose(leaves: (item: T) => boolean): T[] {
    const taken: T[] = [];
    for (const [group, items] of [...this.groups]) {
      const leaving = new Set(items.toReversed().filter(leaves));
      if (leaving.size === 0) continue;
      const left = items.filter((item) => !leaving.has(item));
      if (left.length > 0) this.groups.set(group, left);
      else this.groups.delete(group);
      taken.push(...leaving);
    }
    this.size -= taken.length;
    return taken;
  }

  takeGroup(group: string): T[] {
    const items = this.groups.get(group) ?? [];
    this.groups.delete(group);
    this.size -= items.length;
    return items;
  }

  takeAll(): T[] {
    return [...this.groups.keys()].flatMap((group) => this.takeGroup(group));
  }
}
