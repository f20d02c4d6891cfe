import type { StepTypeName } from '../graph.ts';
import { condition } from './condition.ts';
import { delay } from './delay.ts';
import { exit } from './exit.ts';
import { sendEmail } from './send-email.ts';
import { type StepType, stepType } from './step-type.ts';
import { updateContact } from './update-contact.ts';
import { waitForEvent } from './wait-for-event.ts';
import { webhook } from './webhook.ts';

/** The types of steps that there are. */
export const stepTypes: Record<StepTypeName, StepType> = {
  SEND_EMAIL: stepType(sendEmail),
  DELAY: stepType(delay),
  WAIT_FOR_EVENT: stepType(waitForEvent),
  CONDITION: stepType(condition),
  WEBHOOK: stepType(webhook),
  UPDATE_CONTACT: stepType(updateContact),
  EXIT: stepType(exit),
};
