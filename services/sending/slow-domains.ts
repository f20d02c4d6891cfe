import type { DomainPace } from './domain-pace.ts';

/** A mail to a slowed domain waits in memory for about this long at most; otherwise it goes back to the ledger. */
const LONGEST_WAIT_MS = 2_000;
/** The most that a mail is postponed: the domain may have recovered by then. */
const LONGEST_POSTPONEMENT_MS = 10 * 60_000;

/** Decides which mail to slowed domains is postponed, so that it does not fill the queue before other mail. */
export class SlowDomains {
  private readonly pace: DomainPace;
  /** Queued mails by domain. */
  private readonly queued = new Map<string, number>();
  /** Until when the mails that were postponed last fill the pace of a domain. */
  private readonly filledUntil = new Map<string, number>();

  constructor(pace: DomainPace) {
    this.pace = pace;
  }

  add(domain: string): void {
    this.queued.set(domain, (this.queued.get(domain) ?? 0) + 1);
  }

  remove(domain: string): void {
    const left = (this.queued.get(domain) ?? 0) - 1;
    if (left > 0) this.queued.set(domain, left);
    else this.queued.delete(domain);
  }

  /** Returns after how many seconds a mail to this domain should be tried; undefined: now. */
  postpone(domain: string): number | undefined {
    const perSecond = this.pace.perSecondOf(domain);
    const spacingMs = perSecond ? 1_000 / perSecond : 0;
    const waitMs = perSecond ? (this.queued.get(domain) ?? 0) * spacingMs : this.pace.delayOf(domain);
    if (waitMs <= LONGEST_WAIT_MS) {
      this.filledUntil.delete(domain);
      return undefined;
    }
    // Postponed mails come back one after the other, not all at once.
    const now = performance.now();
    const filledUntil = Math.max(this.filledUntil.get(domain) ?? 0, now + waitMs) + spacingMs;
    this.filledUntil.set(domain, Math.min(filledUntil, now + LONGEST_POSTPONEMENT_MS));
    return (Math.min(filledUntil - now, LONGEST_POSTPONEMENT_MS) / 1_000) * (0.9 + Math.random() * 0.2);
  }
}
