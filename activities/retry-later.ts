import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { RetryLater } from '../services/emails/deliver.ts';

/**
 * Work that is not done through no fault of its own is tried again. Without a time of its own it is Temporal's back-off
 * that decides: a server that is away is asked ever more rarely.
 */
export function retryLater(error: unknown): unknown {
  if (!(error instanceof RetryLater)) return error;
  const { message, afterMs } = error;
  if (afterMs === undefined) return ApplicationFailure.create({ message, type: 'ComeAgain' });
  return ApplicationFailure.create({
    message,
    type: 'ComeAgain',
    nextRetryDelay: Math.max(afterMs, 100),
    category: ApplicationFailureCategory.BENIGN,
  });
}
