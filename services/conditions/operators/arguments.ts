import { FilterViolation, isNumber, type RawFilter, wrongType } from '../../../platform/conditions/arguments.ts';
import { type TimeSpan, type TimeUnit, timeUnits } from '../instants.ts';

export {
  readAddress,
  readAddressPart,
  readBoolean,
  readComparable,
  readListOf,
  readNothing,
  readPart,
  readScalar,
  type Scalar,
} from '../../../platform/conditions/arguments.ts';

/** A hundred years: longer spans would leave the range of dates. */
const MAX_AMOUNT: Record<TimeUnit, number> = {
  minutes: 52_596_000,
  hours: 876_600,
  days: 36_525,
  weeks: 5_217,
  months: 1_200,
};
export const MAX_COUNT = 1_000_000;

/** Reads `value` and `unit` as a time span. */
export function readSpan({ value, unit }: RawFilter): TimeSpan {
  if (!isNumber(value)) throw wrongType('must be a number');
  if (value <= 0) throw new FilterViolation('value', 'must be greater than 0', 'too_small');
  if (unit === undefined || unit === null)
    throw new FilterViolation('unit', `is required: one of ${timeUnits.join(', ')}`, 'required');
  const known = timeUnits.find((name) => name === unit);
  if (!known) throw new FilterViolation('unit', `must be one of ${timeUnits.join(', ')}`, 'invalid_enum');
  if (value > MAX_AMOUNT[known])
    throw new FilterViolation('value', `must be at most ${MAX_AMOUNT[known]} ${known}`, 'too_big');
  if (known === 'months' && !Number.isInteger(value)) throw wrongType('must be a whole number of months');
  return { amount: value, unit: known };
}

/** The least number of events; 1 by default. */
export function readCount({ count: given }: RawFilter): number {
  if (given === undefined || given === null) return 1;
  if (!isNumber(given) || !Number.isInteger(given))
    throw new FilterViolation('count', 'must be a whole number', 'invalid_type');
  if (given < 1) throw new FilterViolation('count', 'must be at least 1', 'too_small');
  if (given > MAX_COUNT) throw new FilterViolation('count', `must be at most ${MAX_COUNT}`, 'too_big');
  return given;
}
