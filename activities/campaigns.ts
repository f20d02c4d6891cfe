import { Context } from '@temporalio/activity';
import {
  advanceCampaign,
  type CampaignAdvanceDeps,
  type CampaignRun,
  type NextStep,
} from '../services/campaigns/advance.ts';

const HEARTBEAT_MS = 3_000;

export const campaignActivities = (deps: CampaignAdvanceDeps) => ({
  async advanceCampaign(run: CampaignRun): Promise<NextStep> {
    // Freezing a million recipients takes longer than the heartbeat time-out.
    const heartbeats = setInterval(Context.current().heartbeat, HEARTBEAT_MS);
    try {
      return await advanceCampaign(deps, run);
    } finally {
      clearInterval(heartbeats);
    }
  },
});

export type CampaignActivities = ReturnType<typeof campaignActivities>;
