import { Context } from '@temporalio/activity';
import { type DeliveryDeps, deliver } from '../services/emails/deliver.ts';
import type { Counts } from '../services/emails/delivery-settlement.ts';
import { retryLater } from './retry-later.ts';

export interface EmailActivityDeps extends DeliveryDeps {
  /** Aborted when the process shuts down: start nothing new. */
  stopping: AbortSignal;
}

export const emailActivities = ({ stopping, ...deps }: EmailActivityDeps) => ({
  async deliverBatch(batchId: string): Promise<Counts> {
    const { info, cancellationSignal: abort, heartbeat } = Context.current();
    try {
      return await deliver(deps, batchId, { before: info.heartbeatDetails, beat: heartbeat, stop: stopping, abort });
    } catch (error) {
      throw abort.aborted ? abort.reason : retryLater(error);
    }
  },
});

export type EmailActivities = ReturnType<typeof emailActivities>;
