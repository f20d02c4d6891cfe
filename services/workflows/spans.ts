import joi from 'joi';
import { before, timeUnits as conditionUnits, type TimeUnit } from '../conditions/instants.ts';

export const waitUnits = ['seconds', ...conditionUnits] as const;

export interface WaitSpan {
  amount: number;
  unit: 'seconds' | TimeUnit;
}

/** A hundred years. */
const MAX_AMOUNT: Record<WaitSpan['unit'], number> = {
  seconds: 3_155_760_000,
  minutes: 52_596_000,
  hours: 876_600,
  days: 36_525,
  weeks: 5_217,
  months: 1_200,
};

/** Adds a span to a time. A month later is the same day, or the last day of a shorter month. */
export function after(now: Date, { amount, unit }: WaitSpan): Date {
  if (unit === 'seconds') return new Date(now.getTime() + Math.round(amount * 1000));
  return new Date(before(now, { amount: -amount, unit }));
}

/** A time of a simulation or a case: a date-time, or a span or seconds from the start. */
export type ScriptTime = string | number | WaitSpan;

export function scriptTime(time: ScriptTime, start: Date): Date {
  if (typeof time === 'string') return new Date(time);
  return after(start, typeof time === 'number' ? { amount: time, unit: 'seconds' } : time);
}

/** The keys of a span in a joi schema. */
export const spanKeys = {
  amount: joi.number().greater(0).max(MAX_AMOUNT.seconds).custom(inUnit),
  unit: joi.string().valid(...waitUnits),
};

function inUnit(amount: number, helpers: joi.CustomHelpers) {
  const unit: unknown = helpers.state.ancestors[0]?.unit;
  const known = waitUnits.find((name) => name === unit);
  if (known === 'months' && !Number.isInteger(amount)) return helpers.error('number.integer');
  if (known && amount > MAX_AMOUNT[known]) return helpers.error('number.max', { limit: MAX_AMOUNT[known] });
  return amount;
}

export const MAX_SECONDS = MAX_AMOUNT.seconds;
