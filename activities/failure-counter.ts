import { isDatabaseUnavailable } from '../platform/database-errors.ts';

export const MAX_FAILURES = 10;
const MAX_IDS = 10_000;

/**
 * Decides when work that keeps failing is given up. Temporal's attempt number does not: it includes the attempts that
 * failed while the database was unavailable, and an outage must not use up the attempts of the work. Counts are kept in
 * memory only, so several workers, or one that restarts, try more often than one.
 */
export class FailureCounter {
  private readonly counts = new Map<string, number>();

  /** Returns whether this failure is the last one that the work gets. */
  isFinal(id: string, error: unknown): boolean {
    if (isDatabaseUnavailable(error)) return false;
    const count = (this.counts.get(id) ?? 0) + 1;
    this.counts.delete(id);
    if (count >= MAX_FAILURES) return true;
    this.counts.set(id, count);
    const [oldest] = this.counts.keys();
    if (this.counts.size > MAX_IDS && oldest !== undefined) this.counts.delete(oldest);
    return false;
  }

  succeeded(id: string): void {
    this.counts.delete(id);
  }
}
