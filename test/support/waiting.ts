import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  timeoutMs?: number;
  /** What the test waits for, for the error message. */
  what?: string;
}

/** Polls until the result is neither false nor undefined, and returns it. */
export async function eventually<T>(
  poll: () => T | false | undefined | Promise<T | false | undefined>,
  { timeoutMs = 120_000, what = 'what the test waits for' }: WaitOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let delayMs = 5; ; delayMs = Math.min(delayMs * 2, 100)) {
    const result = await poll();
    if (result !== undefined && result !== false) return result;
    if (Date.now() > deadline) throw new Error(`After ${timeoutMs} ms ${what} is still missing.`);
    await sleep(delayMs);
  }
}
