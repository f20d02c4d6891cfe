// The least that Temporal can be asked for: a workflow with one activity that does nothing, and one that waits.
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

export * from '../workflows/index.ts';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({
  taskQueue: 'bare',
  startToCloseTimeout: '1 minute',
});

export async function bare(): Promise<void> {
  await nothing();
}

export const goOn = defineSignal('goOn');

export async function bareWait(): Promise<void> {
  let over = false;
  setHandler(goOn, () => {
    over = true;
  });
  await condition(() => over);
}
