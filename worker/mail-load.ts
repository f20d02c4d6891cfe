const HIGH_PER_SECOND = 200;
const WINDOW_MS = 1_000;

/** Knows whether this process is sending much mail, as it does for campaigns. Other work can then wait. */
export class MailLoad {
  private readonly now: () => number;
  private startedAt: number;
  private sent = 0;
  private sentBefore = 0;

  constructor(now = () => performance.now()) {
    this.now = now;
    this.startedAt = now();
  }

  count(): void {
    this.advance();
    this.sent++;
  }

  isHigh = (): boolean => {
    this.advance();
    return Math.max(this.sent, this.sentBefore) >= HIGH_PER_SECOND;
  };

  /** Compares with the last whole second too, so that a new second does not look idle. */
  private advance(): void {
    const passed = Math.floor((this.now() - this.startedAt) / WINDOW_MS);
    if (passed === 0) return;
    this.sentBefore = passed === 1 ? this.sent : 0;
    this.sent = 0;
    this.startedAt += passed * WINDOW_MS;
  }
}
