import { Context } from '@temporalio/activity';
import { processTimings } from '../platform/timings.ts';

/** Tells Temporal that the activity is alive, while it works. */
export async function withHeartbeats<T>(work: () => Promise<T>, { activity } = processTimings): Promise<T> {
  const heartbeats = setInterval(Context.current().heartbeat, activity.heartbeat);
  try {
    return await work();
  } finally {
    clearInterval(heartbeats);
  }
}
