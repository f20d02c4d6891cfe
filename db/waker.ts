/** The least time between two NOTIFYs. A relay that is awake polls for more work by itself. */
const INTERVAL_MS = 10;

/** Coalesces the wake-ups of one process into few NOTIFYs. */
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
        // The relays poll as well: a lost wake-up only delays work.
      }
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS).unref());
    }
    this.busy = false;
  }
}
