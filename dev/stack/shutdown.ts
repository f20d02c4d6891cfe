// The order and signals of a shutdown: a part stops after those that use it.
import type { StopStep } from '../child.ts';

export type PartName = 'api' | 'worker' | 'mail' | 'temporal' | 'postgres';

export const SHUTDOWN_ORDER: PartName[][] = [['api', 'worker'], ['mail'], ['temporal'], ['postgres']];

/** SIGKILL follows when none of these ends the process. API and worker wait for SHUTDOWN_GRACE_SECONDS at most. */
export const SHUTDOWN_STEPS: Record<PartName, StopStep[]> = {
  api: [{ signal: 'SIGTERM', waitMs: 60_000 }],
  worker: [{ signal: 'SIGTERM', waitMs: 60_000 }],
  mail: [{ signal: 'SIGTERM', waitMs: 5_000 }],
  temporal: [{ signal: 'SIGTERM', waitMs: 10_000 }],
  postgres: [
    { signal: 'SIGINT', waitMs: 30_000 },
    { signal: 'SIGQUIT', waitMs: 5_000 },
  ],
};
