import { LRUCache } from 'lru-cache';
import { clientNetwork } from '../../platform/http/client-network.ts';
import { WINDOW_SECONDS } from './rate-limit.ts';
import type { RateDecision } from './rate-limiter.ts';

/** Bounds memory under a flood of distinct addresses: the least recently seen are evicted. */
const MAX_NETWORKS = 100_000;
/** Longer than any address; behind an untrusted proxy the header can contain anything. */
const MAX_ADDRESS_LENGTH = 64;

interface Window {
  endsAt: number;
  passed: number;
}

/**
 * Limits calls per client address and minute, in the memory of this process. Rows in the database would cost a write
 * for nearly every browser, and let a client with many addresses fill a table.
 */
export class AddressLimiter {
  private readonly windows: LRUCache<string, Window>;
  private readonly limit: number;

  constructor(limit: number, maxNetworks = MAX_NETWORKS) {
    this.limit = limit;
    this.windows = new LRUCache({ max: maxNetworks });
  }

  /** The number of networks tracked. */
  get size(): number {
    return this.windows.size;
  }

  take(ip: string): RateDecision {
    const network = clientNetwork(ip).slice(0, MAX_ADDRESS_LENGTH);
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
