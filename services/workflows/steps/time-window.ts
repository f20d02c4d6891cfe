import joi from 'joi';
import { isTimezone, localTime, type Weekday, weekdays, zonedTime } from '../../../platform/time-zones.ts';
import { failStep, leaveBy, type StepType, sleepUntil } from './step-type.ts';

export interface TimeWindowConfig {
  days?: Weekday[];
  /** `09:00`, local time. */
  from?: string;
  /** Before `from`: of the next day. `24:00` is the end of the day. */
  to?: string;
  timezone?: string;
}

const from = joi.string().pattern(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time like 09:00');
const to = joi.string().pattern(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'a time like 17:00, or 24:00');

export const timeWindowStep: StepType<TimeWindowConfig> = {
  type: 'TIME_WINDOW',
  label: 'Time window',
  description:
    'Waits for certain days and hours, in the time zone of the contact (`timezone`), the step or the project.',
  exits: ['next'],
  whenMoved:
    'the window is recalculated from the start of the step; if it has opened since, the execution continues at once',
  config: joi
    .object({
      days: joi
        .array()
        .items(joi.string().valid(...weekdays))
        .max(7)
        .unique(),
      from,
      to,
      timezone: joi
        .string()
        .max(100)
        .custom((name: string, helpers) => (isTimezone(name) ? name : helpers.error('any.invalid'))),
    })
    .unknown(),
  newConfig: { days: ['MON', 'TUE', 'WED', 'THU', 'FRI'], from: '09:00', to: '17:00' },
  violations: ({ config: { days = [], from, to } }) => [
    ...(days.length === 0 ? ['has no days'] : []),
    ...(from === undefined || to === undefined ? ['needs "from" and "to"'] : []),
    ...(from !== undefined && from === to ? ['has an empty window: "from" and "to" are the same'] : []),
  ],
  uses: () => ({ fields: ['data.timezone'] }),
  run: async ({ config }, env) => {
    const { timezone } = env.contact.data;
    const own = typeof timezone === 'string' && isTimezone(timezone) ? timezone : config.timezone;
    const opens = nextOpening(config, env.now, own ?? (await env.projectTimezone()));
    if (!opens) return failStep('the step needs "days", "from" and "to"');
    return opens <= env.now ? leaveBy('next') : sleepUntil(opens);
  },
};

/** Returns when the window opens next: `now` while it is open, undefined when it never does. */
export function nextOpening({ days = [], from, to }: TimeWindowConfig, now: Date, zone: string): Date | undefined {
  if (from === undefined || to === undefined || from === to) return undefined;
  const today = localTime(now, zone);
  // Yesterday's window may last until today. Eight days later is the same weekday again.
  for (let offset = -1; offset <= 8; offset++) {
    const opening = { ...today, day: today.day + offset };
    const opens = zonedTime(opening, from, zone);
    const closes = zonedTime({ ...opening, day: opening.day + (to < from ? 1 : 0) }, to, zone);
    if (!days.includes(weekdayOf(opening))) continue;
    if (opens > now) return opens;
    if (now < closes) return now;
  }
  return undefined;
}

/** Days past the end of a month are those of the next one. */
const weekdayOf = ({ year, month, day }: { year: number; month: number; day: number }): Weekday =>
  weekdays[(new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7] ?? 'MON';
