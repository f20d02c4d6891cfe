import type { SlowedDomain } from '../campaigns/rates.ts';
import type { DomainPace } from './domain-pace.ts';

/** A mail to a slowed domain waits in memory for about this long at most; otherwise it goes back to the ledger. */
const LONGEST_WAIT_MS = 2_000;
/** The most that an email is delayed: the domain may have recovered by then. */
const LONGEST_DELAY_MS = 10 * 60_000;

const MAX_LISTED = 100;

/** Decides which mail to slowed domains is delayed, so that it does not fill the queue before other mail. */
export class SlowDomains {
  private readonly pace: DomainPace;
  /** Queued mails by domain. */
  private readonly queued = new Map<string, number>();
  /** Until when the mails that were slowed last fill the pace of a domain. */
  private readonly filledUntil = new Map<string, number>();
  private readonly ofCampaigns = new Map<string, Set<string>>();

  constructor(pace: DomainPace) {
    this.pace = pace;
  }

  get queuedDomains(): number {
    return this.queued.size;
  }

  add(domain: string): void {
    this.queued.set(domain, (this.queued.get(domain) ?? 0) + 1);
  }

  remove(domain: string): void {
    const left = (this.queued.get(domain) ?? 0) - 1;
    if (left > 0) this.queued.set(domain, left);
    else this.queued.delete(domain);
  }

  /** The domains among the recipients of a campaign that are slowed now, slowest first. */
  of(campaignId: string): SlowedDomain[] {
    return [...(this.ofCampaigns.get(campaignId) ?? [])]
      .map((domain) => ({ domain, perSecond: this.pace.perSecondOf(domain) ?? 0 }))
      .filter(({ perSecond }) => perSecond > 0)
      .sort((a, b) => a.perSecond - b.perSecond)
      .slice(0, MAX_LISTED);
  }

  private remember(campaignId: string, domain: string): void {
    const domains = this.ofCampaigns.get(campaignId) ?? new Set();
    this.ofCampaigns.set(campaignId, domains.add(domain));
  }

  /** Returns after how many seconds a mail to this domain should be tried; undefined: now. */
  retryAfter(domain: string, campaignId: string | null): number | undefined {
    const perSecond = this.pace.perSecondOf(domain);
    if (campaignId !== null && perSecond !== undefined) this.remember(campaignId, domain);
    const spacingMs = perSecond ? 1_000 / perSecond : 0;
    const waitMs = perSecond ? (this.queued.get(domain) ?? 0) * spacingMs : this.pace.delayOf(domain);
    if (waitMs <= LONGEST_WAIT_MS) {
      this.filledUntil.delete(domain);
      return undefined;
    }
    // Slowed mails come back one after the other, not all at once.
    const now = performance.now();
    const filledUntil = Math.max(this.filledUntil.get(domain) ?? 0, now + waitMs) + spacingMs;
    this.filledUntil.set(domain, Math.min(filledUntil, now + LONGEST_DELAY_MS));
    return (Math.min(filledUntil - now, LONGEST_DELAY_MS) / 1_000) * (0.9 + Math.random() * 0.2);
  }
}
