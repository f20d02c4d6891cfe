import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { CampaignActivities } from '../activities/campaigns.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import { refresh } from './signals.ts';
import { timings } from './timings.ts';

export interface CampaignInput {
  campaignId: string;
  generation: number;
}

/** Retries without limit: a long outage of the database must not end a campaign. */
const retry = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;

const { advanceCampaign } = proxyActivities<CampaignActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: timings.timeout,
  summary: 'reads the campaign; freezes or closes it',
  retry,
});

/** Clocks differ: by a worker's clock it may be too early still. */
const SHORTEST_WAIT_MS = 200;
/** Bounds the delay when a signal is lost. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * Runs a campaign from its start time to its end: schedule, freeze and close. Senders send its mails. Postgres has the
 * recipients and their results. The history grows with the duration, not with the number of recipients.
 */
export async function campaign(run: CampaignInput): Promise<string> {
  let signalled = false;
  setHandler(refresh, () => {
    signalled = true;
  });

  for (;;) {
    signalled = false;
    const next = await advanceCampaign(run);
    setCurrentDetails(next.details);
    if (next.kind === 'end') return next.details;
    await condition(() => signalled, waitMs(next.until), { summary: next.details });
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof campaign>(run);
  }
}

function waitMs(until: string | undefined): number {
  if (until === undefined) return LONGEST_WAIT_MS;
  return Math.max(Date.parse(until) - Date.now(), SHORTEST_WAIT_MS);
}
