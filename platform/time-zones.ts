import { LRUCache } from 'lru-cache';

export const weekdays = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;
export type Weekday = (typeof weekdays)[number];

/** Returns whether it is the IANA name of a time zone, such as `Europe/Berlin`. */
export function isTimezone(name: string): boolean {
  // Newer versions of Node accept `+02:00` too, which Temporal does not.
  if (!/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export interface LocalTime {
  year: number;
  /** January is 1. */
  month: number;
  day: number;
  hour: number;
  minute: number;
}

/** Bounded, because names come from the data of contacts, in any spelling. */
const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: 600 });

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...parts });
  formats.set(zone, format);
  return format;
}

/** Returns what clocks of a time zone show. */
export function localTime(at: Date, zone: string): LocalTime {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return { year: part('year'), month: part('month'), day: part('day'), hour: part('hour'), minute: part('minute') };
}

/**
 * Returns when clocks of a time zone show a time, `09:00`, on a day. Of a time that comes twice the first; of one that the
 * change of clocks leaves out as much later.
 */
export function zonedTime({ year, month, day }: Pick<LocalTime, 'year' | 'month' | 'day'>, time: string, zone: string) {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const wanted = Date.UTC(year, month - 1, day, hour, minute);
  // The offsets before and after a change of clocks that may be near.
  const candidates = [wanted - DAY, wanted + DAY].map((near) => new Date(wanted - offsetAt(new Date(near), zone)));
  const exact = candidates.filter((at) => at.getTime() + offsetAt(at, zone) === wanted);
  const [first = candidates[0]] = exact.toSorted((a, b) => a.getTime() - b.getTime());
  return first ?? new Date(wanted);
}

const DAY = 86_400_000;
const MINUTE = 60_000;

/** Milliseconds that a time zone is ahead of UTC. */
function offsetAt(at: Date, zone: string): number {
  const { year, month, day, hour, minute } = localTime(at, zone);
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at.getTime() / MINUTE) * MINUTE;
}
