import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  timeoutMs?: number;
  /** What is being waited for, for the message when it does not come. */
  what?: string;
}

/** Asks until the answer is neither false nor undefined, and gives it back. */
export async function eventually<T>(
  ask: () => T | false | undefined | Promise<T | false | undefined>,
  { timeoutMs = 20_000, what = 'what the test waits for' }: Patience = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`After ${timeoutMs} ms there is still no sign of ${what}.`);
    await sleep(pause);
  }
}
