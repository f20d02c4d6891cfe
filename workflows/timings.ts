import type { Timings } from '../platform/timings.ts';

declare global {
  /** Put in front of the bundle by `worker/bundle.ts`: workflow code cannot read the environment. */
  var activityTimings: Timings['activity'];
}

export const timings = globalThis.activityTimings;
