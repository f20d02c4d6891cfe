import { proxyActivities } from '@temporalio/workflow';

const { send } = proxyActivities<{ send(to: string): Promise<void> }>({ startToCloseTimeout: '1 minute' });

/** The baseline of `latency`: the minimal durable send with Temporal. */
export async function bareSend(to: string): Promise<void> {
  await send(to);
}
