/** At most one NOTIFY in this time, whatever the load; a relay that is awake looks for more work by itself. */
const QUIET_MS = 10;

/** Folds the wake-ups of one process into few NOTIFYs. */
export class Waker {
  private readonly queues = new Set<string>();
  private busy = false;
  private readonly notify: (queues: string) => PromiseLike<unknown>;

  constructor(notify: (queues: string) => PromiseLike<unknown>) {
    this.notify = notify;
  }

  wake(queue: string): void {
    this.queues.add(queue);
    if (!this.busy) void this.flush();
  }

  private async flush(): Promise<void> {
    this.busy = true;
    while (this.queues.size > 0) {
      const queues = [...this.queues].join(',');
      this.queues.clear();
      try {
        await this.notify(queues);
      } catch {
        // The relays poll as well: a lost wake-up is a delay, not a loss.
      }
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS).unref());
    }
    this.busy = false;
  }
}
