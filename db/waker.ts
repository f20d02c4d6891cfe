/** At most one NOTIFY in this time, whatever the load; a relay that is awake looks for more work by itself. */
const QUIET_MS = 10;

/** Folds the wake-ups of one process into few NOTIFYs. */
export class Waker {
  private readonly lanes = new Set<string>();
  private busy = false;
  private readonly notify: (lanes: string) => PromiseLike<unknown>;

  constructor(notify: (lanes: string) => PromiseLike<unknown>) {
    this.notify = notify;
  }

  wake(lane: string): void {
    this.lanes.add(lane);
    if (!this.busy) void this.flush();
  }

  private async flush(): Promise<void> {
    this.busy = true;
    while (this.lanes.size > 0) {
      const lanes = [...this.lanes].join(',');
      this.lanes.clear();
      try {
        await this.notify(lanes);
      } catch {
        // The relays poll as well: a lost wake-up is a delay, not a loss.
      }
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS).unref());
    }
    this.busy = false;
  }
}
