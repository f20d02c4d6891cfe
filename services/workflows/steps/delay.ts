import joi from 'joi';
import { keysOf } from '../../../platform/conditions/field-path.ts';
import { parseMoment } from '../../conditions/instants.ts';
import type { Data } from '../../contacts/data.ts';
import { after, spanKeys, type WaitSpan } from '../spans.ts';
import { failStep, type StepType, sleepUntil } from './step-type.ts';

export interface DelayConfig extends Partial<WaitSpan> {
  /** A date, or `data.<key>` for a date of the contact. */
  until?: string;
}

export const delayStep: StepType<DelayConfig> = {
  type: 'DELAY',
  label: 'Delay',
  description: 'Waits for a duration, or until a date.',
  exits: ['next'],
  waits: true,
  whenMoved: 'the delay is recalculated from the start of the step; if it is over, the execution continues at once',
  config: joi
    .object({ ...spanKeys, until: joi.string().custom(dateOrPath) })
    .oxor('amount', 'until')
    .unknown(),
  violations: ({ config: { amount, unit, until } }) => {
    if (until !== undefined) return [];
    if (amount === undefined) return ['needs a duration or a date'];
    return unit === undefined ? ['needs a unit of time'] : [];
  },
  uses: ({ config: { until } }) => ({ fields: until && pathOf(until) ? [`data.${pathOf(until)?.[0]}`] : [] }),
  run: ({ config: { amount, unit, until } }, { contact, now }) => {
    if (until !== undefined) return sleepUntilDate(until, contact.data);
    if (amount === undefined || unit === undefined) return failStep('the step needs a duration or a date');
    return sleepUntil(after(now, { amount, unit }));
  },
};

/** Fails without a date: neither leaving at once nor waiting for ever would be right for every workflow. */
function sleepUntilDate(until: string, data: Data) {
  const path = pathOf(until);
  const value = path ? valueAt(data, path) : until;
  const moment = typeof value === 'string' ? parseMoment(value) : undefined;
  if (moment === undefined) return failStep(`the contact has no date in ${until}`);
  return sleepUntil(new Date(moment));
}

const pathOf = (until: string): string[] | undefined =>
  /^data[.[]/.test(until) ? keysOf(until.slice('data'.length)) : undefined;

const valueAt = (data: Data, path: string[]): unknown =>
  path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Data)[key] : undefined),
    data,
  );

function dateOrPath(value: string, helpers: joi.CustomHelpers) {
  return parseMoment(value) !== undefined || pathOf(value) ? value : helpers.error('string.isoDate');
}
