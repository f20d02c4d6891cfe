import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connect.ts';
import { askLeave } from './pace.ts';

/** Leave is taken for so long ahead, at most. */
const AHEAD_SECONDS = 0.25;
const MOST_AT_ONCE = 50;
/** Whoever must wait for longer does it in Temporal. */
const PATIENCE_SECONDS = 5;

/** The pace of a campaign that is throttled, over all processes together. */
export class Throttle {
  /** Null: as fast as it goes. */
  ratePerMinute: number | null;
  private readonly db: Db;
  private readonly campaignId: string;
  private readonly signal: AbortSignal;
  private tokens = 0;
  private asking: Promise<boolean> | undefined;

  constructor(db: Db, campaignId: string, ratePerMinute: number | null, signal: AbortSignal) {
    this.db = db;
    this.campaignId = campaignId;
    this.ratePerMinute = ratePerMinute;
    this.signal = signal;
  }

  /** Whether one more mail may go at once. */
  hasLeave(): boolean {
    if (this.signal.aborted) return false;
    if (this.ratePerMinute === null) return true;
    if (this.tokens === 0) return false;
    this.tokens--;
    return true;
  }

  /** Resolves when one more mail may go; with false when that is too far off. */
  async leave(): Promise<boolean> {
    for (;;) {
      if (this.hasLeave()) return true;
      if (this.signal.aborted || this.ratePerMinute === null) return false;
      this.asking ??= this.ask(this.ratePerMinute).finally(() => {
        this.asking = undefined;
      });
      if (!(await this.asking)) return false;
    }
  }

  private async ask(ratePerMinute: number): Promise<boolean> {
    const mails = Math.min(Math.max(1, Math.floor((ratePerMinute / 60) * AHEAD_SECONDS)), MOST_AT_ONCE);
    const answer = await askLeave(this.db, this.campaignId, mails, ratePerMinute);
    if ('granted' in answer) {
      this.tokens += mails;
      return true;
    }
    if (answer.waitSeconds > PATIENCE_SECONDS) return false;
    await sleep(answer.waitSeconds * 1_000, undefined, { signal: this.signal }).catch(() => {});
    return true;
  }
}
