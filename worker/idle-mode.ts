/** Loops poll this many times less often in idle mode. */
export const IDLE_FACTOR = 5;

/**
 * On while nothing has happened for a while: no notification has come and no loop has found work. Polls only find work
 * whose notification was lost, or that became due, so they may be rarer then.
 */
export class IdleMode {
  private readonly afterMs: number;
  private readonly listeners: (() => void)[] = [];
  private activeAt = performance.now();

  constructor(afterMs: number) {
    this.afterMs = afterMs;
  }

  readonly isOn = (): boolean => performance.now() - this.activeAt >= this.afterMs;

  /** Something happens. */
  end(): void {
    const wasOn = this.isOn();
    this.activeAt = performance.now();
    if (wasOn) for (const listener of this.listeners) listener();
  }

  /** Called when idle mode ends. */
  onEnd(listener: () => void): void {
    this.listeners.push(listener);
  }
}
