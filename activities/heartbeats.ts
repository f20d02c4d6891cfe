import { Context } from '@temporalio/activity';
import { processTimings } from '../platform/timings.ts';

/** Sends heartbeats to Temporal until `work` ends. */
export async function withHeartbeats<T>(work: () => Promise<T>, { activity } = processTimings): Promise<T> {
  const heartbeats = setInterval(Context.current().heartbeat, activity.heartbeat);
  try {
    return await work();
  } finally {
    clearInterval(heartbeats);
  }
}
