import type { Db } from '../../db/connect.ts';
import { readEventStats } from '../../db/models/event-counts.ts';
import { type RangeQuery, readWholeHours } from '../range.ts';
import { aggregateEventBacklog } from './counts.ts';

export interface EventStats {
  name: string;
  count: number;
  uniqueContacts: number;
  lastSeenAt: Date;
}

const MAX_NAMES = 1_000;

/** Returns how often each event was recorded, the most frequent first, for whole hours. */
export async function eventStats(db: Db, projectId: string, query: RangeQuery): Promise<EventStats[]> {
  const { stats, pending } = await readEventStats(db, projectId, readWholeHours(query), MAX_NAMES);
  await aggregateEventBacklog(db, projectId, pending);
  return stats.map(({ name, count, contacts, lastAt }) => ({
    name,
    count,
    uniqueContacts: contacts,
    lastSeenAt: lastAt,
  }));
}
