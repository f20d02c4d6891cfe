import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { RetryLater } from '../services/emails/deliver.ts';

/**
 * Converts a RetryLater into a failure that Temporal retries after its delay. Without a delay Temporal's back-off applies,
 * so an unavailable server is tried ever more rarely.
 */
export function retryLater(error: unknown): unknown {
  if (!(error instanceof RetryLater)) return error;
  const { message, afterMs } = error;
  if (afterMs === undefined) return ApplicationFailure.create({ message, type: 'RetryLater' });
  return ApplicationFailure.create({
    message,
    type: 'RetryLater',
    nextRetryDelay: Math.max(afterMs, 100),
    category: ApplicationFailureCategory.BENIGN,
  });
}
