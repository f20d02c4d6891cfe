import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { Domain } from '../../db/models/domain.ts';
import { Execution } from '../../db/models/execution.ts';
import { Job } from '../../db/models/job.ts';
import { ProjectErasure } from '../../db/models/project-erasure.ts';
import { WebhookEndpoint } from '../../db/models/webhook-endpoint.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { processTimings } from '../../platform/timings.ts';
import { startLoop } from '../domains/loop.ts';
import { startCampaignWorkflow } from '../outbox/campaign-run.ts';
import { workflowIds } from '../outbox/ids.ts';
import { startSenderWorkflow, WANTED_SENDERS } from '../outbox/sender-workflows.ts';
import { startWebhookEndpointWorkflow } from '../outbox/webhook-endpoint-run.ts';
import { writeOutboxMessage } from '../outbox/write.ts';
import { isActive } from '../workflows/execution-state.ts';
import { resumeExecution } from '../workflows/executions/retry.ts';
import { restoreSchedule } from '../workflows/schedule.ts';

/** A kind of rows that must have an open Temporal workflow or Schedule. */
export interface Kind {
  /** Type of their Temporal workflow, or `Schedule`. */
  workflowType: string;
  /**
   * Selects all of them: `key` identifies the row for `revive`; `workflow_id` is the id that must be open; `past_grace`
   * says that the row has not changed for a while, so that no start can still be under way.
   */
  rows: string;
  /** Restarts one from its stored state. Runs in a transaction and checks again whether the row still needs it. */
  revive(trx: Db, key: string): Promise<void>;
}

const isPastGrace = (since: string): string =>
  `${since} < now() - interval '${processTimings.reconciler.grace} milliseconds'`;

/** Every kind of Temporal workflow that belongs to a row must be listed here. */
export const kinds: Kind[] = [
  {
    workflowType: 'execution',
    rows: `select id::text as key, workflow_id('execution', project_id::text, id::text, generation::text) as workflow_id,
        ${isPastGrace('updated_at')} as past_grace
      from executions where status in ('RUNNING', 'WAITING')`,
    revive: async (trx, id) => {
      const execution = await Execution.query(trx).findById(id).forUpdate();
      if (execution && isActive(execution)) await resumeExecution(trx, execution);
    },
  },
  {
    workflowType: 'campaign',
    rows: `select id::text as key, workflow_id('campaign', project_id::text, id::text, generation::text) as workflow_id,
        ${isPastGrace('updated_at')} as past_grace
      from campaigns c where status in ('SCHEDULED', 'SENDING') and deleted_at is null
        -- A cancelled campaign runs until its last recipient is marked.
        or status = 'CANCELLED' and (
          select true from emails e where e.campaign_id = c.id and e.status = 'PENDING' limit 1)`,
    revive: async (trx, id) => {
      const campaign = await Campaign.query(trx).findById(id).forUpdate();
      if (!campaign || !['SCHEDULED', 'SENDING', 'CANCELLED'].includes(campaign.status)) return;
      const generation = campaign.generation + 1;
      await startCampaignWorkflow(trx, await campaign.$query(trx).patchAndFetch({ generation, updatedAt: new Date() }));
    },
  },
  {
    workflowType: 'domain',
    rows: `select id::text as key, workflow_id('domain', project_id::text, id::text, generation::text) as workflow_id,
        ${isPastGrace('greatest(created_at, loop_started_at)')} as past_grace
      from domains where not managed`,
    revive: async (trx, id) => {
      const domain = await Domain.query(trx).findById(id).forUpdate();
      if (!domain || domain.managed) return;
      const generation = domain.generation + 1;
      await startLoop(trx, await domain.$query(trx).patchAndFetch({ generation, loopStartedAt: new Date() }));
    },
  },
  {
    workflowType: 'webhookEndpoint',
    rows: `select id::text as key,
        workflow_id('webhookEndpoint', project_id::text, id::text, generation::text) as workflow_id,
        ${isPastGrace('loop_started_at')} as past_grace
      from webhook_endpoints`,
    revive: async (trx, id) => {
      const endpoint = await WebhookEndpoint.query(trx).findById(id).forUpdate();
      if (!endpoint) return;
      const generation = endpoint.generation + 1;
      const next = { generation, loopStartedAt: new Date() };
      await startWebhookEndpointWorkflow(trx, await endpoint.$query(trx).patchAndFetch(next));
    },
  },
  {
    workflowType: 'job',
    rows: `select id::text as key, workflow_id('job', project_id::text, id::text) as workflow_id, ${isPastGrace('admitted_at')} as past_grace
      from jobs where status in ('QUEUED', 'RUNNING') and admitted_at is not null`,
    revive: async (trx, id) => {
      const job = await Job.query(trx).findById(id).forUpdate();
      if (!job?.admittedAt || (job.status !== 'QUEUED' && job.status !== 'RUNNING')) return;
      await restart(trx, 'job', job.projectId, id, { jobId: id });
    },
  },
  {
    workflowType: 'erasure',
    rows: `select id::text as key, 'erasure/' || project_id || '/' || id as workflow_id,
        ${isPastGrace('created_at')} as past_grace
      from project_erasures where not done`,
    revive: async (trx, id) => {
      const open = await ProjectErasure.query(trx).findOne({ id, done: false }).forUpdate();
      if (open) await restart(trx, 'erasure', open.projectId, id, { erasureId: id });
    },
  },
  {
    workflowType: 'sender',
    rows: `select n::text as key, workflow_id('sender', n::text) as workflow_id, true as past_grace
      from generate_series(1, ${WANTED_SENDERS}) as n`,
    revive: (trx, number) => startSenderWorkflow(trx, Number(number)),
  },
  {
    workflowType: 'Schedule',
    rows: `select id::text as key, workflow_id('cron', project_id::text, id::text) as workflow_id, ${isPastGrace('updated_at')} as past_grace
      from workflows where trigger_type = 'SCHEDULE' and trigger_config ->> 'cron' is not null`,
    revive: async (trx, id) => {
      const workflow = await Workflow.query(trx).findById(id).forUpdate();
      if (workflow?.triggerType === 'SCHEDULE') await restoreSchedule(trx, workflow);
    },
  },
];

/** Restarts a kind whose ids have no generation, under the same id. */
async function restart(trx: Db, type: 'job' | 'erasure', projectId: string, id: string, arg: object): Promise<void> {
  await writeOutboxMessage(trx, {
    queue: 'starts',
    action: 'start',
    workflowType: type,
    workflowId: workflowIds[type](projectId, id),
    args: [arg],
    projectId,
    resourceId: id,
    again: true,
  });
}
