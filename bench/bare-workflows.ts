// The minimal Temporal workflows: one with a no-op activity, and one that waits for a signal.
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

export * from '../workflows/index.ts';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({
  taskQueue: 'bare',
  startToCloseTimeout: '1 minute',
});

export async function bare(): Promise<void> {
  await nothing();
}

export const resumeBareWait = defineSignal('resume');

export async function bareWait(): Promise<void> {
  let resumed = false;
  setHandler(resumeBareWait, () => {
    resumed = true;
  });
  await condition(() => resumed);
}
