import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { ComeAgain, type DeliveryDeps, deliver } from '../services/emails/deliver.ts';
import type { Counts } from '../services/emails/delivery-settlement.ts';

export interface EmailActivityDeps extends DeliveryDeps {
  /** The process is to end: begin nothing new. */
  stopping: AbortSignal;
}

export const emailActivities = ({ stopping, ...deps }: EmailActivityDeps) => ({
  async deliverBatch(batchId: string): Promise<Counts> {
    const { info, cancellationSignal: abort, heartbeat } = Context.current();
    try {
      return await deliver(deps, batchId, { before: info.heartbeatDetails, beat: heartbeat, stop: stopping, abort });
    } catch (error) {
      if (abort.aborted) throw abort.reason;
      throw error instanceof ComeAgain ? retryOf(error) : error;
    }
  },
});

export type EmailActivities = ReturnType<typeof emailActivities>;

/** Without a time of its own it is Temporal's back-off that decides: a server that is away is asked ever more rarely. */
function retryOf({ message, afterMs }: ComeAgain): ApplicationFailure {
  if (afterMs === undefined) return ApplicationFailure.create({ message, type: 'ComeAgain' });
  return ApplicationFailure.create({
    message,
    type: 'ComeAgain',
    nextRetryDelay: Math.max(afterMs, 100),
    category: ApplicationFailureCategory.BENIGN,
  });
}
