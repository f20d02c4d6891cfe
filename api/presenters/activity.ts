import joi from 'joi';
import { type ActivityItem, activityTypes } from '../../services/activity/types.ts';
import type { Upcoming, UpcomingGroup } from '../../services/activity/upcoming.ts';
import type { Granularity, Point } from '../../services/analytics/timeseries.ts';
import {
  dateTime,
  email,
  fraction,
  list,
  namedType,
  nullable,
  oneOf,
  optional,
  record,
  text,
  uuid,
  wholeNumber,
} from '../http/schemas.ts';
import type { Typed, TypeOf } from '../http/typed.ts';

const count = () => wholeNumber({ min: 0 });

export const activityItemSchema = namedType('ActivityItem', 'An item of the activity feed.', {
  id: text().description('ID of the item, unique in the feed.'),
  type: oneOf(...activityTypes).description('Activity type.'),
  timestamp: dateTime().description('When it happened.'),
  contactId: nullable(uuid()).description('Contact ID; null for campaigns.'),
  contactEmail: nullable(email()).description(
    'Email address of the contact; null for campaigns and once the contact is deleted.',
  ),
  metadata: record().description('Details, depending on `type`.'),
});

export const presentActivityItem = ({ timestamp, ...item }: ActivityItem) => ({
  ...item,
  timestamp: timestamp.toISOString(),
});

export const activityStatsSchema = namedType('ActivityStats', 'Totals and rates of a range.', {
  totalEvents: count().description('Number of tracked events.'),
  totalEmailsSent: count().description('Number of emails that were sent.'),
  totalEmailsDelivered: count().description('Number of emails that were delivered.'),
  totalEmailsOpened: count().description('Number of emails that were opened, including automated opens.'),
  totalEmailsClicked: count().description('Number of emails with a clicked link, including automated clicks.'),
  totalEmailsHumanOpened: count().description('Number of emails that were opened by a person.'),
  totalEmailsHumanClicked: count().description('Number of emails with a link clicked by a person.'),
  totalEmailsBounced: count().description('Number of emails that bounced.'),
  totalEmailsComplained: count().description('Number of emails that were reported as spam.'),
  totalWorkflowsStarted: count().description('Number of workflow executions that started.'),
  openRate: fraction().description(
    'Emails opened in the range per email sent in it, including automated opens; at most 1.',
  ),
  clickRate: fraction().description(
    'Emails clicked in the range per email sent in it, including automated clicks; at most 1.',
  ),
  humanOpenRate: fraction().description('Emails opened by a person in the range per email sent in it; at most 1.'),
  humanClickRate: fraction().description('Emails clicked by a person in the range per email sent in it; at most 1.'),
  bounceRate: fraction().description('Emails bounced in the range per email sent or refused in it; at most 1.'),
});

const upcomingItemSchema = namedType('UpcomingItem', 'A scheduled campaign, or a workflow step that is waiting.', {
  type: oneOf('campaign.scheduled', 'workflow.step').description('Type of the item.'),
  scheduledFor: dateTime().description('When the campaign starts, or the wait ends.'),
  campaignId: optional(uuid()).description('Campaign ID. Only for campaigns.'),
  name: optional(text()).description('Campaign name. Only for campaigns.'),
  subject: optional(text({ min: 0 })).description('Subject, with variables. Only for campaigns.'),
  executionId: optional(uuid()).description('Execution ID. Only for steps.'),
  workflowId: optional(uuid()).description('Workflow ID. Only for steps.'),
  workflowName: optional(nullable(text())).description(
    'Workflow name; null if the workflow no longer exists. Only for steps.',
  ),
  contactId: optional(uuid()).description('Contact ID. Only for steps.'),
  contactEmail: optional(nullable(email())).description(
    'Email address of the contact; null if the contact no longer exists. Only for steps.',
  ),
  stepId: optional(nullable(uuid())).description('ID of the waiting step; null if it is not known. Only for steps.'),
  eventName: optional(nullable(text())).description(
    'Event that the step waits for; null if it waits only for the time. Only for steps.',
  ),
});

const upcomingGroupSchema = namedType(
  'UpcomingGroup',
  'With `grouped`: a scheduled campaign, or the contacts that leave a workflow step on a day.',
  {
    type: oneOf('campaign', 'workflow').description('Type of the group.'),
    id: uuid().description('Campaign ID or workflow ID.'),
    name: text().description('Name of the campaign or the workflow.'),
    stepId: nullable(uuid()).description('ID of the waiting step; null for campaigns.'),
    at: dateTime().description('When the campaign starts, or the first contact leaves the step.'),
    count: count().description('Number of recipients as counted last, or of contacts.'),
  },
);

const upcomingEntry: Typed<TypeOf<typeof upcomingItemSchema> | TypeOf<typeof upcomingGroupSchema>> = joi
  .alternatives()
  .try(upcomingItemSchema, upcomingGroupSchema)
  .required();

export const upcomingSchema = namedType('UpcomingActivity', 'Scheduled campaigns and waiting workflow steps.', {
  data: list(upcomingEntry).description('The items, earliest first.'),
});

export const presentUpcoming = (upcoming: Upcoming[]) => ({
  data: upcoming.map(({ scheduledFor, ...item }) => ({ ...item, scheduledFor: scheduledFor.toISOString() })),
});

export const presentUpcomingGroups = (groups: UpcomingGroup[]) => ({
  data: groups.map(({ at, ...group }) => ({ ...group, at: at.toISOString() })),
});

const timeseriesPointSchema = namedType('TimeseriesPoint', 'Email counts of a day or hour.', {
  date: text()
    .description('UTC date of the day (YYYY-MM-DD), or start of the hour as a date-time.')
    .example('2026-11-15'),
  sent: count().description('Number of emails that were sent.'),
  delivered: count().description('Number of emails that were delivered.'),
  opened: count().description('Number of emails that were first opened, including automated opens.'),
  clicked: count().description('Number of emails in which a link was first clicked, including automated clicks.'),
  humanOpened: count().description('Number of emails that were first opened by a person.'),
  humanClicked: count().description('Number of emails in which a link was first clicked by a person.'),
  peopleOpened: count().description('Number of emails that were first opened or clicked by a person.'),
  bounced: count().description('Number of emails that bounced.'),
  complained: count().description('Number of emails that were reported as spam.'),
});

export const timeseriesSchema = namedType('Timeseries', 'Email counts over time.', {
  data: list(timeseriesPointSchema).description('A point for every day or hour of the range, in order.'),
});

const DAY_LENGTH = 'YYYY-MM-DD'.length;

/** Formats a day as a date, an hour as its start. */
export const presentTimeseries = (points: Point[], granularity: Granularity) => ({
  data: points.map(({ at, ...counts }) => ({
    date: granularity === 'day' ? at.toISOString().slice(0, DAY_LENGTH) : at.toISOString(),
    ...counts,
  })),
});
