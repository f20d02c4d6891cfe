import joi from 'joi';
import { exitExecution as end, type StepType } from './step-type.ts';

export interface ExitConfig {
  reason?: string | null;
}

export const exitStep: StepType<ExitConfig> = {
  type: 'EXIT',
  label: 'Exit',
  description: 'Ends the execution.',
  exits: [],
  runsUnlocked: true,
  config: joi.object({ reason: joi.string().max(500).allow('', null) }).unknown(),
  violations: () => [],
  run: ({ config: { reason } }) => end(reason || null),
};
