import { LRUCache } from 'lru-cache';
import { clientNetwork } from '../../platform/client-network.ts';
import { WINDOW_SECONDS } from '../access/rate-limit.ts';
import type { RateVerdict } from '../access/rate-limiter.ts';

/** Bounds memory under a flood of distinct addresses: the ones longest unseen are forgotten first. */
const MOST_NETWORKS = 100_000;
/** Longer than any address; with a proxy that is not ours the header can hold anything. */
const MOST_CHARACTERS = 64;

interface Window {
  endsAt: number;
  passed: number;
}

/**
 * Limits calls per client address and minute, in the memory of this process. A row per address in the database would
 * cost a write for nearly every browser, and let a stranger with many addresses fill a table.
 */
export class AddressLimiter {
  private readonly windows: LRUCache<string, Window>;
  private readonly limit: number;

  constructor(limit: number, mostNetworks = MOST_NETWORKS) {
    this.limit = limit;
    this.windows = new LRUCache({ max: mostNetworks });
  }

  /** How many networks are remembered. */
  get size(): number {
    return this.windows.size;
  }

  take(ip: string): RateVerdict {
    const network = clientNetwork(ip).slice(0, MOST_CHARACTERS);
    const now = performance.now();
    let window = this.windows.get(network);
    if (!window || now >= window.endsAt) {
      window = { endsAt: now + WINDOW_SECONDS * 1000, passed: 0 };
      this.windows.set(network, window);
    }
    const allowed = window.passed < this.limit;
    if (allowed) window.passed++;
    return {
      allowed,
      limit: this.limit,
      remaining: this.limit - window.passed,
      resetSeconds: Math.max(1, Math.ceil((window.endsAt - now) / 1000)),
    };
  }
}
