/** Queues the work of several owners and serves the owners round-robin. */
export class RoundRobin<Owner, Work> {
  private readonly waiting = new Map<Owner, Work[]>();

  add(owner: Owner, work: Work[]): void {
    if (work.length === 0) return;
    const before = this.waiting.get(owner);
    if (before) before.push(...work);
    else this.waiting.set(owner, [...work]);
  }

  /** The number of waiting items. */
  get size(): number {
    let size = 0;
    for (const work of this.waiting.values()) size += work.length;
    return size;
  }

  get empty(): boolean {
    return this.waiting.size === 0;
  }

  /** Takes up to `count` items, at most `perOwner` in a row of one owner. `fits` may stop it after the first item. */
  take(count: number, perOwner: number, fits: (next: Work) => boolean = () => true): Work[] {
    const taken: Work[] = [];
    while (taken.length < count) {
      const [first] = this.waiting;
      if (!first) break;
      const [owner, work] = first;
      const part: Work[] = [];
      while (part.length < perOwner && taken.length + part.length < count) {
        const next = work[part.length];
        if (!next || (taken.length + part.length > 0 && !fits(next))) break;
        part.push(next);
      }
      // Deleting and setting again moves the owner to the end of the map.
      this.waiting.delete(owner);
      if (work.length > part.length) this.waiting.set(owner, work.slice(part.length));
      taken.push(...part);
      if (part.length === 0) break;
    }
    return taken;
  }

  /** Removes and returns the waiting work of `owner`. */
  remove(owner: Owner): Work[] {
    const work = this.waiting.get(owner) ?? [];
    this.waiting.delete(owner);
    return work;
  }

  /** Removes and returns all waiting work. */
  takeAll(): Work[] {
    const work = [...this.waiting.values()].flat();
    this.waiting.clear();
    return work;
  }

  removeAll(): Owner[] {
    const owners = [...this.waiting.keys()];
    this.waiting.clear();
    return owners;
  }
}
