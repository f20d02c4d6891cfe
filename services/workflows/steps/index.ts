import { addToSegmentStep } from './add-to-segment.ts';
import { conditionStep } from './condition.ts';
import { delayStep } from './delay.ts';
import { exitStep } from './exit.ts';
import { removeFromSegmentStep } from './remove-from-segment.ts';
import { sendEmailStep } from './send-email.ts';
import { splitStep } from './split.ts';
import { startWorkflowStep } from './start-workflow.ts';
import { type Step, type StepExit, type StepType, stepType } from './step-type.ts';
import { timeWindowStep } from './time-window.ts';
import { updateContactStep } from './update-contact.ts';
import { waitForEventStep } from './wait-for-event.ts';
import { webhookStep } from './webhook.ts';

/** The table of step types. Nothing else in the program lists them. */
export const stepTypes = {
  SEND_EMAIL: stepType(sendEmailStep),
  DELAY: stepType(delayStep),
  WAIT_FOR_EVENT: stepType(waitForEventStep),
  CONDITION: stepType(conditionStep),
  WEBHOOK: stepType(webhookStep),
  UPDATE_CONTACT: stepType(updateContactStep),
  EXIT: stepType(exitStep),
  SPLIT: stepType(splitStep),
  TIME_WINDOW: stepType(timeWindowStep),
  ADD_TO_SEGMENT: stepType(addToSegmentStep),
  REMOVE_FROM_SEGMENT: stepType(removeFromSegmentStep),
  START_WORKFLOW: stepType(startWorkflowStep),
};

export type StepTypeName = keyof typeof stepTypes;
export const stepTypeNames = Object.keys(stepTypes) as StepTypeName[];

/** Throws when the type is unknown, as after a rollback to a version that lacks it. */
export function stepTypeOf({ type }: { type: string }): StepType {
  const found = (stepTypes as Record<string, StepType | undefined>)[type];
  if (!found) throw new Error(`Unknown step type: ${type}`);
  return found;
}

/** Returns the ways out of a step, in drawing order. */
export function exitsOf(step: Pick<Step, 'type' | 'config'>): readonly StepExit[] {
  const type = stepTypeOf(step);
  return type.exitsOf?.(step.config) ?? type.exits;
}
