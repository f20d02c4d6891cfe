import { Context } from '@temporalio/activity';
import {
  advanceCampaign,
  type CampaignAdvanceDeps,
  type CampaignRun,
  type NextStep,
} from '../services/campaigns/advance.ts';
import { describeCampaign } from '../services/campaigns/details.ts';
import { CampaignSender, type SliceDeps } from '../services/campaigns/sender.ts';
import { retryLater } from './retry-later.ts';

const HEARTBEAT_MS = 3_000;
const SLICE_MS = 30_000;

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

export interface SendingDeps extends SliceDeps {
  /** Aborted when the process shuts down: start nothing new. */
  stopping: AbortSignal;
  sliceMs?: number;
}

export const campaignSendingActivities = ({ stopping, sliceMs = SLICE_MS, ...deps }: SendingDeps) => {
  const sender = new CampaignSender(deps);
  return {
    async sendCampaignSlice(campaignId: string): Promise<{ more: boolean; details: string }> {
      const { cancellationSignal: abort, heartbeat } = Context.current();
      try {
        const { more } = await sender.send(campaignId, { beat: heartbeat, stop: stopping, abort, durationMs: sliceMs });
        return { more, details: await describeCampaign(deps.db, campaignId) };
      } catch (error) {
        throw abort.aborted ? abort.reason : retryLater(error);
      }
    },
  };
};

export type CampaignSendingActivities = ReturnType<typeof campaignSendingActivities>;
