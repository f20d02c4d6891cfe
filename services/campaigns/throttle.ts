import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { reserveMailsOfThrottle } from './pace.ts';

/** How much sending is reserved with one statement. */
const AHEAD_SECONDS = 0.25;
const MAX_MAILS = 50;
/** A longer wait ends the slice, and the Temporal workflow waits instead. */
const MAX_WAIT_SECONDS = 5;

/** Keeps a campaign's limit of mails a minute over all processes. */
export class Throttle {
  /** Null: no limit. */
  ratePerMinute: number | null;
  private readonly db: Db;
  private readonly campaignId: string;
  private readonly signal: AbortSignal;
  private tokens = 0;
  private reserving: Promise<boolean> | undefined;

  constructor(db: Db, campaignId: string, ratePerMinute: number | null, signal: AbortSignal) {
    this.db = db;
    this.campaignId = campaignId;
    this.ratePerMinute = ratePerMinute;
    this.signal = signal;
  }

  /** Takes the right to send one mail, if it may be sent now. */
  tryTake(): boolean {
    if (this.signal.aborted) return false;
    if (this.ratePerMinute === null) return true;
    if (this.tokens === 0) return false;
    this.tokens--;
    return true;
  }

  /** Waits for the right to send one mail. Returns false if that takes too long, or on abort. */
  async leave(): Promise<boolean> {
    for (;;) {
      if (this.tryTake()) return true;
      if (this.signal.aborted || this.ratePerMinute === null) return false;
      this.reserving ??= this.reserve(this.ratePerMinute).finally(() => {
        this.reserving = undefined;
      });
      if (!(await this.reserving)) return false;
    }
  }

  private async reserve(ratePerMinute: number): Promise<boolean> {
    const mails = Math.min(Math.max(1, Math.floor((ratePerMinute / 60) * AHEAD_SECONDS)), MAX_MAILS);
    const answer = await reserveMailsOfThrottle(this.db, this.campaignId, mails, ratePerMinute);
    if ('granted' in answer) {
      this.tokens += mails;
      return true;
    }
    if (answer.waitSeconds > MAX_WAIT_SECONDS) return false;
    await sleep(answer.waitSeconds * 1_000, undefined, { signal: this.signal }).catch(() => {});
    return true;
  }
}
