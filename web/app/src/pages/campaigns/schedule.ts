// When a campaign is sent, as the composer edits it.
import type { Campaign } from '../../api/types.ts';

/** When it is sent. The API stores the time of a scheduled campaign only. */
export interface Schedule {
  later: boolean;
  /** Local time, as the browser's input has it: the user's, or with `byClocks` that of each recipient. */
  sendAt: string;
  byClocks: boolean;
  /** With `byClocks`: what happens to recipients whose clocks have shown the time already. */
  late: Late;
}

export const lateRules = ['NOW', 'NEXT_DAY', 'SKIP'] as const;
export type Late = (typeof lateRules)[number];

export const sendNow: Schedule = { later: false, sendAt: '', byClocks: false, late: 'NOW' };

export function scheduleOf({ scheduledFor, localTime: byClocks, late }: Campaign): Schedule {
  if (byClocks) return { later: true, sendAt: byClocks, byClocks: true, late: late ?? 'NOW' };
  return scheduledFor ? { ...sendNow, later: true, sendAt: localTime(scheduledFor) } : sendNow;
}

/** The body of `send`. */
export function startOf({ later, sendAt, byClocks, late }: Schedule) {
  if (!later) return {};
  return byClocks ? { localTime: sendAt, late } : { scheduledFor: isoTime(sendAt) };
}

/** When the last recipients may get it: clocks of the last place on earth are twelve hours behind UTC. */
export const lastMoment = ({ sendAt, byClocks }: Schedule): number =>
  byClocks ? Date.parse(`${sendAt}:00Z`) + 12 * 3_600_000 : Date.parse(sendAt);

export const isSameSchedule = (one: Schedule, other: Schedule): boolean =>
  one.sendAt === other.sendAt && one.byClocks === other.byClocks && (!one.byClocks || one.late === other.late);

export const isoTime = (local: string): string => new Date(local).toISOString();

export const localTime = (iso: string): string => {
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
