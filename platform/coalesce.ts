export interface CoalesceOptions {
  maxItems?: number;
  /** How many runs may be under way at once. */
  width?: number;
  /** A run waits so long for others to come along, unless there are enough: where many come, and none is in a hurry. */
  linger?: { ms: number; enough: number };
}

/**
 * Turns a function over many items into one over a single item: calls that come while enough are under way are answered
 * together by the next. So writes are small when it is quiet and large under load, without a timer.
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

  const company = ({ ms, enough }: { ms: number; enough: number }): Promise<void> | undefined => {
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
    // Callers of the same tick share the first run.
    await Promise.resolve();
    while (waiting.length > 0) {
      if (linger) await company(linger);
      const calls = waiting.splice(0, maxItems);
      try {
        const outs = await run(calls.map(({ item }) => item));
        calls.forEach(({ resolve }, index) => {
          resolve(outs[index] as Out);
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
