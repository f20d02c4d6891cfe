import { condition } from './condition.ts';
import { delay } from './delay.ts';
import { exit } from './exit.ts';
import { sendEmail } from './send-email.ts';
import { type StepType, stepType } from './step-type.ts';
import { updateContact } from './update-contact.ts';
import { waitForEvent } from './wait-for-event.ts';
import { webhook } from './webhook.ts';

/** The table of step types. Nothing else in the program lists them. */
export const stepTypes = {
  SEND_EMAIL: stepType(sendEmail),
  DELAY: stepType(delay),
  WAIT_FOR_EVENT: stepType(waitForEvent),
  CONDITION: stepType(condition),
  WEBHOOK: stepType(webhook),
  UPDATE_CONTACT: stepType(updateContact),
  EXIT: stepType(exit),
};

export type StepTypeName = keyof typeof stepTypes;
export const stepTypeNames = Object.keys(stepTypes) as StepTypeName[];

/** Throws when the type is unknown, as after a rollback to a version that lacks it. */
export function stepTypeOf({ type }: { type: string }): StepType {
  const found = (stepTypes as Record<string, StepType | undefined>)[type];
  if (!found) throw new Error(`Unknown step type: ${type}`);
  return found;
}
