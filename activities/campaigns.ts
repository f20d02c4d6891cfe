import { Context } from '@temporalio/activity';
import { type AdvanceDeps, advanceCampaign, type NextStep, type Run } from '../services/campaigns/advance.ts';
import { detailsOf } from '../services/campaigns/details.ts';
import { CampaignSender, type SliceDeps } from '../services/campaigns/sender.ts';
import { retryLater } from './retry-later.ts';

const BEAT_MS = 3_000;
const SLICE_MS = 30_000;

export const campaignActivities = (deps: AdvanceDeps) => ({
  async advanceCampaign(run: Run): Promise<NextStep> {
    // Says that we live: freezing a million recipients takes a while.
    const beating = setInterval(Context.current().heartbeat, BEAT_MS);
    try {
      return await advanceCampaign(deps, run);
    } finally {
      clearInterval(beating);
    }
  },
});

export type CampaignActivities = ReturnType<typeof campaignActivities>;

export interface SendingDeps extends SliceDeps {
  /** The process is to end: begin nothing new. */
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
        return { more, details: await detailsOf(deps.db, campaignId) };
      } catch (error) {
        throw abort.aborted ? abort.reason : retryLater(error);
      }
    },
  };
};

export type CampaignSendingActivities = ReturnType<typeof campaignSendingActivities>;
