import type { Db } from '../../db/connect.ts';
import type { Place, Stretch } from '../events/newest.ts';
import type { Range } from '../range.ts';
import type { ActivityItem, ActivityType } from './types.ts';

/** What is asked for: of those types, of a contact or of everybody. */
export interface Wanted {
  projectId: string;
  types: ActivityType[];
  contactId: string | undefined;
}

/** An item and its place in the whole feed: by time, then by id, then by type. */
export interface Found {
  place: Place;
  item: Omit<ActivityItem, 'contactEmail'>;
}

/** One of the tables that the feed is merged from. Each gives its own newest, from an index. */
export interface ActivitySource {
  types: readonly ActivityType[];
  /** May give the item at `before` itself once more. */
  newest(db: Db, wanted: Wanted, stretch: Stretch): Promise<Found[]>;
  count(db: Db, wanted: Wanted, range: Partial<Range>): Promise<number>;
}
