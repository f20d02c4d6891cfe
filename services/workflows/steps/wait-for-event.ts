import joi from 'joi';
import { after, MAX_SECONDS, spanKeys, type WaitSpan } from '../spans.ts';
import { failStep, type StepType, waitFor } from './step-type.ts';

export interface WaitForEventConfig {
  eventName?: string;
  /** A number means seconds. */
  timeout?: number | WaitSpan;
}

export const waitForEventStep: StepType<WaitForEventConfig> = {
  type: 'WAIT_FOR_EVENT',
  label: 'Wait for event',
  description: 'Waits for an event of the contact, or until a timeout.',
  exits: ['event', 'timeout'],
  waits: true,
  whenMoved: 'it waits for the new event, with the timeout counted from the start of the step',
  config: joi
    .object({
      eventName: joi.string().min(1).max(255),
      timeout: joi.alternatives().conditional(joi.object(), {
        // biome-ignore lint/suspicious/noThenProperty: the name is joi's
        then: joi.object({ amount: spanKeys.amount.required(), unit: spanKeys.unit.required() }).unknown(),
        otherwise: joi.number().greater(0).max(MAX_SECONDS),
      }),
    })
    .unknown(),
  violations: ({ config }) => (config.eventName ? [] : ['has no event to wait for']),
  uses: ({ config: { eventName } }) => ({ events: eventName ? [eventName] : [] }),
  run: ({ config: { eventName, timeout } }, { now }) => {
    if (!eventName) return failStep('the step has no event to wait for');
    if (timeout === undefined) return waitFor(eventName);
    const span: WaitSpan = typeof timeout === 'number' ? { amount: timeout, unit: 'seconds' } : timeout;
    return waitFor(eventName, after(now, span));
  },
};
