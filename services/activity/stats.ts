import type { Db } from '../../db/connect.ts';
import { type ActivityCounts, activityKinds, readActivityCounts } from '../../db/models/activity-counts.ts';
import { type RangeQuery, readWholeHours } from '../range.ts';
import { countActivity } from './feed.ts';
import { activityTypes } from './types.ts';

export interface ActivityStats {
  totalEvents: number;
  totalEmailsSent: number;
  totalEmailsDelivered: number;
  totalEmailsOpened: number;
  totalEmailsClicked: number;
  totalEmailsBounced: number;
  totalEmailsComplained: number;
  totalWorkflowsStarted: number;
  /** Of what was sent, 0 to 1. */
  openRate: number;
  clickRate: number;
  bounceRate: number;
}

/** For whole hours. Mails are counted by the ledger, each once for whatever happens to it. */
export async function activityStats(db: Db, projectId: string, query: RangeQuery): Promise<ActivityStats> {
  const range = readWholeHours(query);
  const [days, totalEvents] = await Promise.all([
    readActivityCounts(db, projectId, range, 'day'),
    countActivity(db, { projectId, types: ['event.triggered'], contactId: undefined }, range),
  ]);
  const sum = sumOf(days.map(({ counts }) => counts));
  // Opened in the range, but sent before it: more than all is still all.
  const rate = (part: number) => (sum.sent > 0 ? Math.min(part / sum.sent, 1) : 0);
  return {
    totalEvents,
    totalEmailsSent: sum.sent,
    totalEmailsDelivered: sum.delivered,
    totalEmailsOpened: sum.opened,
    totalEmailsClicked: sum.clicked,
    totalEmailsBounced: sum.bounced,
    totalEmailsComplained: sum.complained,
    totalWorkflowsStarted: sum.started,
    openRate: rate(sum.opened),
    clickRate: rate(sum.clicked),
    bounceRate: rate(sum.bounced),
  };
}

const sumOf = (counts: ActivityCounts[]): ActivityCounts =>
  Object.fromEntries(
    activityKinds.map((kind) => [kind, counts.reduce((sum, count) => sum + count[kind], 0)]),
  ) as ActivityCounts;

/** How many items the feed has gained in the last minutes. */
export async function countRecentActivity(db: Db, projectId: string, minutes: number): Promise<number> {
  const from = new Date(Date.now() - minutes * 60_000);
  return countActivity(db, { projectId, types: [...activityTypes], contactId: undefined }, { from });
}
