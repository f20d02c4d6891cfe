import { proxyActivities } from '@temporalio/workflow';

const { send } = proxyActivities<{ send(to: string): Promise<void> }>({ startToCloseTimeout: '1 minute' });

/** The baseline of `latency`: as little as sends a mail durably with Temporal. */
export async function bare(to: string): Promise<void> {
  await send(to);
}
