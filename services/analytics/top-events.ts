import type { Db } from '../../db/connect.ts';
import { readEventHours } from '../../db/models/event-counts.ts';
import { isReservedEvent } from '../events/reserved.ts';
import { type Range, type RangeQuery, readWholeHours } from '../range.ts';

export interface TopEvent {
  name: string;
  count: number;
  /** Growth against the period before of the same length: 0.5 is half as much again. 1 when the event is new. */
  trend: number;
}

/** Returns the tracked events, the most frequent first. */
export async function topEvents(
  db: Db,
  projectId: string,
  { limit, ...query }: RangeQuery & { limit: number },
): Promise<TopEvent[]> {
  const range = readWholeHours(query);
  const [now, earlier] = await Promise.all([
    readEventHours(db, projectId, range),
    readEventHours(db, projectId, periodBefore(range)),
  ]);
  const before = new Map(earlier.map(({ name, count }) => [name, count]));
  return now
    .filter(({ name, count }) => count > 0 && !isReservedEvent(name))
    .sort((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name, count }) => ({ name, count, trend: trendOf(count, before.get(name) ?? 0) }));
}

const periodBefore = ({ from, to }: Range): Range => ({
  from: new Date(2 * from.getTime() - to.getTime()),
  to: from,
});

const trendOf = (count: number, before: number): number =>
  before === 0 ? 1 : Math.round(((count - before) / before) * 1000) / 1000;
