/** Waiting work of several owners, who take turns. */
export class Turns<Owner, Work> {
  private readonly waiting = new Map<Owner, Work[]>();

  add(owner: Owner, work: Work[]): void {
    if (work.length === 0) return;
    const before = this.waiting.get(owner);
    if (before) before.push(...work);
    else this.waiting.set(owner, [...work]);
  }

  get empty(): boolean {
    return this.waiting.size === 0;
  }

  /** Up to `count`, at most `atOnce` of an owner at its turn; `fits` may end it earlier, but never before the first. */
  take(count: number, atOnce: number, fits: (next: Work) => boolean = () => true): Work[] {
    const taken: Work[] = [];
    while (taken.length < count) {
      const [turn] = this.waiting;
      if (!turn) break;
      const [owner, work] = turn;
      const part: Work[] = [];
      while (part.length < atOnce && taken.length + part.length < count) {
        const next = work[part.length];
        if (!next || (taken.length + part.length > 0 && !fits(next))) break;
        part.push(next);
      }
      // Behind the others, and only when there is more.
      this.waiting.delete(owner);
      if (work.length > part.length) this.waiting.set(owner, work.slice(part.length));
      taken.push(...part);
      if (part.length === 0) break;
    }
    return taken;
  }

  /** All that `owner` has waiting. */
  remove(owner: Owner): Work[] {
    const work = this.waiting.get(owner) ?? [];
    this.waiting.delete(owner);
    return work;
  }

  removeAll(): Owner[] {
    const owners = [...this.waiting.keys()];
    this.waiting.clear();
    return owners;
  }
}
