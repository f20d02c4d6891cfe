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
  /** By people; the two before include machines. */
  totalEmailsHumanOpened: number;
  totalEmailsHumanClicked: number;
  totalEmailsBounced: number;
  totalEmailsComplained: number;
  totalWorkflowsStarted: number;
  /** The share of the sent mails, 0 to 1. */
  openRate: number;
  clickRate: number;
  humanOpenRate: number;
  humanClickRate: number;
  /** The share of sent and refused mails. */
  bounceRate: number;
}

/** Counts whole hours. A mail counts once in each state, by the ledger. */
export async function activityStats(db: Db, projectId: string, query: RangeQuery): Promise<ActivityStats> {
  const range = readWholeHours(query);
  const [days, totalEvents] = await Promise.all([
    readActivityCounts(db, projectId, range, 'day'),
    countActivity(db, { projectId, types: ['event.triggered'], contactId: undefined }, range),
  ]);
  const sum = sumOf(days.map(({ counts }) => counts));
  // At most 1: mails opened in the range may have been sent before it.
  const rate = (part: number, whole = sum.sent) => (whole > 0 ? Math.min(part / whole, 1) : 0);
  return {
    totalEvents,
    totalEmailsSent: sum.sent,
    totalEmailsDelivered: sum.delivered,
    totalEmailsOpened: sum.opened,
    totalEmailsClicked: sum.clicked,
    totalEmailsHumanOpened: sum.humanOpened,
    totalEmailsHumanClicked: sum.humanClicked,
    totalEmailsBounced: sum.bounced,
    totalEmailsComplained: sum.complained,
    totalWorkflowsStarted: sum.started,
    openRate: rate(sum.opened),
    clickRate: rate(sum.clicked),
    humanOpenRate: rate(sum.humanOpened),
    humanClickRate: rate(sum.humanClicked),
    bounceRate: rate(sum.bounced, sum.sent + sum.refused),
  };
}

const sumOf = (counts: ActivityCounts[]): ActivityCounts =>
  Object.fromEntries(
    activityKinds.map((kind) => [kind, counts.reduce((sum, count) => sum + count[kind], 0)]),
  ) as ActivityCounts;

/** Counts the items of the feed in the last minutes. */
export async function countRecentActivity(db: Db, projectId: string, minutes: number): Promise<number> {
  const from = new Date(Date.now() - minutes * 60_000);
  return countActivity(db, { projectId, types: [...activityTypes], contactId: undefined }, { from });
}
