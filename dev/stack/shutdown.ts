// Who ends when, and how: those who use a part end before it.
import type { StopStep } from '../child.ts';

export type PartName = 'api' | 'worker' | 'mail' | 'temporal' | 'postgres';

export const ENDING_ORDER: PartName[][] = [['api', 'worker'], ['mail'], ['temporal'], ['postgres']];

/** SIGKILL follows where none of these is heeded. The worker lets activities finish for twenty seconds. */
export const SHUTDOWN_STEPS: Record<PartName, StopStep[]> = {
  api: [{ signal: 'SIGTERM', waitMs: 30_000 }],
  worker: [{ signal: 'SIGTERM', waitMs: 40_000 }],
  mail: [{ signal: 'SIGTERM', waitMs: 5_000 }],
  temporal: [{ signal: 'SIGTERM', waitMs: 10_000 }],
  postgres: [
    { signal: 'SIGINT', waitMs: 30_000 },
    { signal: 'SIGQUIT', waitMs: 5_000 },
  ],
};
