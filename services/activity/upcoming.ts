import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { statement } from '../../db/statement.ts';

export interface UpcomingCampaign {
  type: 'campaign.scheduled';
  scheduledFor: Date;
  campaignId: string;
  name: string;
  subject: string;
}

export interface UpcomingStep {
  type: 'workflow.step';
  scheduledFor: Date;
  executionId: string;
  workflowId: string;
  workflowName: string | null;
  contactId: string;
  contactEmail: string | null;
  stepId: string | null;
  /** The event that the step waits for until then; null in a DELAY. */
  eventName: string | null;
}

export type Upcoming = UpcomingCampaign | UpcomingStep;

interface StepRow {
  id: string;
  workflowId: string;
  workflowName: string | null;
  contactId: string;
  email: string | null;
  currentStepId: string | null;
  awaitedEvent: string | null;
  wakeAt: Date;
}

const steps = statement<StepRow>(
  'activity-upcoming-steps',
  `select x.*, w.name as workflow_name, c.email from (
     select id, workflow_id, contact_id, current_step_id, awaited_event, wake_at from executions
     where project_id = $1 and status = 'WAITING' and wake_at is not null order by wake_at, id limit $2
   ) x
   left join workflows w on w.id = x.workflow_id left join contacts c on c.id = x.contact_id
   order by x.wake_at, x.id`,
);

/** Returns scheduled campaigns and steps that end at a time, the next first. */
export async function listUpcoming(db: Db, projectId: string, limit: number): Promise<Upcoming[]> {
  const [campaigns, waiting] = await Promise.all([
    Campaign.query(db)
      .where({ projectId, status: 'SCHEDULED' })
      .whereNull('deletedAt')
      .orderBy('scheduledFor')
      .limit(limit),
    steps(db, [projectId, limit]),
  ]);
  return [...campaigns.flatMap(campaignOf), ...waiting.map(stepOf)]
    .sort((one, other) => one.scheduledFor.getTime() - other.scheduledFor.getTime())
    .slice(0, limit);
}

/** A scheduled campaign, or the contacts that leave a step of a workflow on the same day. */
export interface UpcomingGroup {
  type: 'campaign' | 'workflow';
  /** Of the campaign or the workflow. */
  id: string;
  name: string;
  stepId: string | null;
  /** When it starts, or when the first contact leaves the step. */
  at: Date;
  /** How many recipients were counted last, or how many contacts wait. */
  count: number;
}

// Days are those of the project.
const groups = statement<UpcomingGroup>(
  'activity-upcoming-groups',
  `select 'campaign' as type, id, name, null::uuid as step_id, scheduled_for as at, audience_count as count
   from campaigns where project_id = $1 and status = 'SCHEDULED' and deleted_at is null
   union all
   select 'workflow', w.id, w.name, x.step_id, x.at, x.count from (
     select e.workflow_id, e.current_step_id as step_id, min(e.wake_at) as at, count(*)::integer as count
     from executions e join projects p on p.id = e.project_id
     where e.project_id = $1 and e.status = 'WAITING' and e.wake_at is not null
     group by 1, 2, (e.wake_at at time zone p.timezone)::date
     order by 3 limit $2
   ) x join workflows w on w.id = x.workflow_id
   order by at, name limit $2`,
);

/** Returns scheduled campaigns, and waiting contacts by workflow, step and day, the next first. */
export const listUpcomingGroups = (db: Db, projectId: string, limit: number): Promise<UpcomingGroup[]> =>
  groups(db, [projectId, limit]);

const campaignOf = ({ id, name, subject, scheduledFor }: Campaign): UpcomingCampaign[] =>
  scheduledFor ? [{ type: 'campaign.scheduled', scheduledFor, campaignId: id, name, subject }] : [];

const stepOf = (row: StepRow): UpcomingStep => ({
  type: 'workflow.step',
  scheduledFor: row.wakeAt,
  executionId: row.id,
  workflowId: row.workflowId,
  workflowName: row.workflowName,
  contactId: row.contactId,
  contactEmail: row.email,
  stepId: row.currentStepId,
  eventName: row.awaitedEvent,
});
