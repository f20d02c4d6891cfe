import { continueAsNew, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { EmailActivities } from '../activities/emails.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { timings } from './timings.ts';

const { sendMail } = proxyActivities<EmailActivities>({
  taskQueue: 'everpost-mail' satisfies TaskQueues['mail'],
  // Longer than a run and the mails that it finishes.
  startToCloseTimeout: '30 minutes',
  // The SDK reports every 24 s then. Others send meanwhile: a killed process leaves its mail to them after 15 s.
  heartbeatTimeout: timings.sendMailTimeout,
  summary: 'sends due mail for some minutes',
  // Retries without limit and soon: mail waits.
  retry: { initialInterval: '100 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

/** Bounds the history of one run. */
const ROUNDS = 200;

/**
 * Keeps one activity running that sends due mail. There is one of these workflows more than processes that can run the
 * activity, so that a process that is restarted takes the spare one at once.
 */
export async function sender(): Promise<void> {
  for (let round = 0; round < ROUNDS && !workflowInfo().continueAsNewSuggested; round++)
    setCurrentDetails(await sendMail());
  await continueAsNew<typeof sender>();
}
