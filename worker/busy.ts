import type { QueueOptions } from './temporal-workers.ts';

/** Knows whether activities of certain task queues are running in this process. */
export class BusyQueues {
  private running = 0;

  isBusy = (): boolean => this.running > 0;

  /** Counts the activities of a queue while they run. */
  count(options: QueueOptions): QueueOptions {
    const counted = Object.entries(options.activities ?? {}).map(([name, activity]) => [
      name,
      async (...args: unknown[]) => {
        this.running++;
        try {
          return await (activity as (...given: unknown[]) => unknown)(...args);
        } finally {
          this.running--;
        }
      },
    ]);
    return { ...options, activities: Object.fromEntries(counted) };
  }
}
