import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { EmailActivities } from '../activities/emails.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';

export interface DeliveryInput {
  batchId: string;
}

const { deliverBatch } = proxyActivities<EmailActivities>({
  taskQueue: 'everpost-mail' satisfies TaskQueues['mail'],
  startToCloseTimeout: '6 hours',
  heartbeatTimeout: '15 seconds',
  // Retries without limit: a long outage of the SMTP relay must not end a mail.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Sends a batch of mail. Postgres has the mails and their results. */
export async function delivery({ batchId }: DeliveryInput): Promise<Awaited<ReturnType<typeof deliverBatch>>> {
  setCurrentDetails('sending');
  const counts = await deliverBatch(batchId);
  setCurrentDetails(
    Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ') || 'nothing was left to send',
  );
  return counts;
}
