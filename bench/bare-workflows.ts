// The least that Temporal can be asked for: a workflow with one activity that does nothing.
import { proxyActivities } from '@temporalio/workflow';

export * from '../workflows/index.ts';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({
  taskQueue: 'bare',
  startToCloseTimeout: '1 minute',
});

export async function bare(): Promise<void> {
  await nothing();
}
