import type { Db } from '../../db/connect.ts';
import type { TimeKey, TimePage } from '../events/newest.ts';
import type { Range } from '../range.ts';
import type { ActivityItem, ActivityType } from './types.ts';

export interface ActivityFilter {
  projectId: string;
  types: ActivityType[];
  /** Undefined: all contacts. */
  contactId: string | undefined;
}

/** An item of the feed with its sort key. The feed is sorted by time, then by id, then by type. */
export interface FeedEntry {
  key: TimeKey;
  item: Omit<ActivityItem, 'contactEmail'>;
}

/** One of the tables that the feed is merged from. */
export interface ActivitySource {
  types: readonly ActivityType[];
  /** Returns the newest items of the page. May include the item at `before` itself. */
  newest(db: Db, filter: ActivityFilter, page: TimePage): Promise<FeedEntry[]>;
  count(db: Db, filter: ActivityFilter, range: Partial<Range>): Promise<number>;
}
