import { LRUCache } from 'lru-cache';

interface Use {
  /** When each of its slots was taken, the oldest first. */
  since: number[];
  /** How long a slot was used of late, in milliseconds: an average in which the past counts ever less. */
  usualMs: number;
}

const SLOW_MS = 3_000;
/** Only while others are quick is a domain slow; when nobody is, the relay is, and putting anybody off would help none. */
const QUICK_MS = 1_000;
const QUICK_REMEMBERED_MS = 60_000;
const REMEMBERED = 5_000;
/** With fewer slots there is nothing to share. */
const FEWEST = 4;

/**
 * Who uses the slots, by domain. One domain gets most of them but never all; one whose answers take seconds (its servers
 * are in trouble, and the relay lets us wait for them) gets a quarter. So there is always one for somebody else.
 */
export class Shares {
  private readonly most: number;
  private readonly mostWhenSlow: number;
  private quickAt = Number.NEGATIVE_INFINITY;
  private readonly uses = new LRUCache<string, Use>({ max: REMEMBERED });

  constructor(slots: number) {
    this.most = slots < FEWEST ? slots : slots - Math.max(1, Math.floor(slots / 5));
    this.mostWhenSlow = slots < FEWEST ? slots : Math.floor(slots / 4);
  }

  hasRoom(domain: string | undefined): boolean {
    const use = domain === undefined ? undefined : this.uses.get(domain);
    if (!use || use.since.length < this.mostWhenSlow) return true;
    return use.since.length < this.most && !this.takesLong(use);
  }

  isSlow(domain: string): boolean {
    const use = this.uses.get(domain);
    return use !== undefined && this.takesLong(use);
  }

  enter(domain: string | undefined): void {
    if (domain === undefined) return;
    const use = this.uses.get(domain) ?? { since: [], usualMs: 0 };
    use.since.push(performance.now());
    this.uses.set(domain, use);
  }

  leave(domain: string | undefined): void {
    const use = domain === undefined ? undefined : this.uses.get(domain);
    const since = use?.since.shift();
    if (!use || since === undefined) return;
    const [now, took] = [performance.now(), performance.now() - since];
    use.usualMs = use.usualMs * 0.7 + took * 0.3;
    if (took < QUICK_MS) this.quickAt = now;
  }

  private takesLong({ since: [oldest], usualMs }: Use): boolean {
    const now = performance.now();
    if (now - this.quickAt > QUICK_REMEMBERED_MS) return false;
    return usualMs > SLOW_MS || (oldest !== undefined && now - oldest > SLOW_MS);
  }
}
