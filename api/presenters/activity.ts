import { type ActivityItem, activityTypes } from '../../services/activity/types.ts';
import type { Upcoming } from '../../services/activity/upcoming.ts';
import type { Granularity, Point } from '../../services/analytics/timeseries.ts';
import {
  dateTime,
  email,
  fraction,
  list,
  nullable,
  object,
  oneOf,
  optional,
  record,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';

const count = () => wholeNumber({ min: 0 });

export const activityItemSchema = object({
  id: text(),
  type: oneOf(...activityTypes),
  timestamp: dateTime(),
  contactId: nullable(uuid()),
  contactEmail: nullable(email()),
  metadata: record(),
});

export const presentActivityItem = ({ timestamp, ...item }: ActivityItem) => ({
  ...item,
  timestamp: timestamp.toISOString(),
});

export const activityStatsSchema = object({
  totalEvents: count(),
  totalEmailsSent: count(),
  totalEmailsDelivered: count(),
  totalEmailsOpened: count(),
  totalEmailsClicked: count(),
  totalEmailsHumanOpened: count(),
  totalEmailsHumanClicked: count(),
  totalEmailsBounced: count(),
  totalEmailsComplained: count(),
  totalWorkflowsStarted: count(),
  openRate: fraction(),
  clickRate: fraction(),
  humanOpenRate: fraction(),
  humanClickRate: fraction(),
  bounceRate: fraction(),
});

export const upcomingSchema = object({
  data: list(
    object({
      type: oneOf('campaign.scheduled', 'workflow.step'),
      scheduledFor: dateTime(),
      // Of a campaign.
      campaignId: optional(uuid()),
      name: optional(text()),
      subject: optional(text({ min: 0 })),
      // Of a step.
      executionId: optional(uuid()),
      workflowId: optional(uuid()),
      workflowName: optional(nullable(text())),
      contactId: optional(uuid()),
      contactEmail: optional(nullable(email())),
      stepId: optional(nullable(uuid())),
      eventName: optional(nullable(text())),
    }),
  ),
});

export const presentUpcoming = (upcoming: Upcoming[]) => ({
  data: upcoming.map(({ scheduledFor, ...item }) => ({ ...item, scheduledFor: scheduledFor.toISOString() })),
});

export const timeseriesSchema = object({
  data: list(
    object({
      date: text(),
      sent: count(),
      delivered: count(),
      opened: count(),
      clicked: count(),
      humanOpened: count(),
      humanClicked: count(),
      bounced: count(),
      complained: count(),
    }),
  ),
});

const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** Formats a day as a date, an hour as its start. */
export const presentTimeseries = (points: Point[], granularity: Granularity) => ({
  data: points.map(({ at, ...counts }) => ({
    date: granularity === 'day' ? at.toISOString().slice(0, DAY_LENGTH) : at.toISOString(),
    ...counts,
  })),
});
