import {
  advanceCampaign,
  type CampaignAdvanceDeps,
  type CampaignRun,
  type NextStep,
} from '../services/campaigns/advance.ts';
import { withHeartbeats } from './heartbeats.ts';

export const campaignActivities = (deps: CampaignAdvanceDeps) => ({
  // Freezing a million recipients takes longer than the heartbeat time-out.
  advanceCampaign: (run: CampaignRun): Promise<NextStep> =>
    withHeartbeats(() => advanceCampaign(deps, run), deps.timings),
});

export type CampaignActivities = ReturnType<typeof campaignActivities>;
