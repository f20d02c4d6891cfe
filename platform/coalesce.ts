export interface CoalesceOptions {
  maxItems?: number;
  /** The number of concurrent runs. */
  width?: number;
  /** Delays a run by `ms` to collect more items, unless `enough` are waiting. */
  linger?: { ms: number; enough: number };
}

/**
 * Turns a function over many items into one over a single item. Calls that arrive while all runs are busy share the next
 * run, so batches are small at low load and large at high load, without a timer.
 */
export function coalesced<In, Out>(
  run: (items: In[]) => Promise<Out[]>,
  { maxItems = 100, width = 1, linger }: CoalesceOptions = {},
): (item: In) => Promise<Out> {
  interface Call {
    item: In;
    resolve: (out: Out) => void;
    reject: (error: unknown) => void;
  }
  const waiting: Call[] = [];
  let running = 0;
  let endLinger: (() => void) | undefined;

  const collect = ({ ms, enough }: { ms: number; enough: number }): Promise<void> | undefined => {
    if (waiting.length >= enough) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endLinger = () => {
        if (waiting.length < enough) return;
        clearTimeout(timer);
        resolve();
      };
    });
  };

  async function work(): Promise<void> {
    running++;
    // Lets callers of the same tick share the first run.
    await Promise.resolve();
    while (waiting.length > 0) {
      if (linger) await collect(linger);
      const calls = waiting.splice(0, maxItems);
      try {
        const results = await run(calls.map(({ item }) => item));
        calls.forEach(({ resolve }, index) => {
          resolve(results[index] as Out);
        });
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    running--;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      endLinger?.();
      if (running < width) void work();
    });
}
