import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { CampaignActivities, CampaignSendingActivities } from '../activities/campaigns.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';

export interface CampaignInput {
  campaignId: string;
  generation: number;
}

/** Carries no state: whatever it is about stands in the campaign's row. */
export const lookAgain = defineSignal('lookAgain');

/** Without end: a campaign is never given up because its server, or ours, is away for long. */
const retry = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;

const { advanceCampaign } = proxyActivities<CampaignActivities>({
  taskQueue: 'everpost-bulk' satisfies TaskQueues['bulk'],
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '15 seconds',
  summary: 'looks at the campaign, and freezes or closes it',
  retry,
});

const { sendCampaignSlice } = proxyActivities<CampaignSendingActivities>({
  taskQueue: 'everpost-campaigns' satisfies TaskQueues['campaigns'],
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '15 seconds',
  summary: 'sends for a while',
  retry,
});

/** Clocks differ: a worker may find that it is not time yet. */
const SHORTEST_WAIT_MS = 200;
/** The net under the signals. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * A campaign from its time to its end. Who gets it, and what has become of each, stands in Postgres; what is here is
 * time, and how many hands are at work. Its history grows with the hours that it takes, not with its recipients.
 */
export async function campaign(run: CampaignInput): Promise<string> {
  let nudged = false;
  setHandler(lookAgain, () => {
    nudged = true;
  });

  /** Sends until there is no more, or something else is to be done first. */
  const hand = async (): Promise<void> => {
    for (;;) {
      const { more, details } = await sendCampaignSlice(run.campaignId);
      setCurrentDetails(details);
      if (!more || nudged || workflowInfo().continueAsNewSuggested) return;
    }
  };

  for (;;) {
    nudged = false;
    const next = await advanceCampaign(run);
    setCurrentDetails(next.details);
    if (next.kind === 'end') return next.details;
    if (next.kind === 'send') await Promise.all(Array.from({ length: next.hands }, hand));
    else await condition(() => nudged, waitMs(next.until), { summary: next.details });
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof campaign>(run);
  }
}

function waitMs(until: string | undefined): number {
  if (until === undefined) return LONGEST_WAIT_MS;
  return Math.max(Date.parse(until) - Date.now(), SHORTEST_WAIT_MS);
}
