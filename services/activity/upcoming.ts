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
  workflow_id: string;
  workflow_name: string | null;
  contact_id: string;
  email: string | null;
  current_step_id: string | null;
  awaited_event: string | null;
  wake_at: Date;
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

const campaignOf = ({ id, name, subject, scheduledFor }: Campaign): UpcomingCampaign[] =>
  scheduledFor ? [{ type: 'campaign.scheduled', scheduledFor, campaignId: id, name, subject }] : [];

const stepOf = (row: StepRow): UpcomingStep => ({
  type: 'workflow.step',
  scheduledFor: row.wake_at,
  executionId: row.id,
  workflowId: row.workflow_id,
  workflowName: row.workflow_name,
  contactId: row.contact_id,
  contactEmail: row.email,
  stepId: row.current_step_id,
  eventName: row.awaited_event,
});
