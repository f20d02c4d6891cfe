import type { Db } from '../../db/connect.ts';
import { Campaign } from '../../db/models/campaign.ts';
import { Domain } from '../../db/models/domain.ts';
import { Execution } from '../../db/models/execution.ts';
import { Job } from '../../db/models/job.ts';
import { Workflow } from '../../db/models/workflow.ts';
import { startLoop } from '../domains/loop.ts';
import { startRun } from '../outbox/campaign-run.ts';
import { workflowIds } from '../outbox/ids.ts';
import { writeOutboxMessage } from '../outbox/write.ts';
import { isActive } from '../workflows/execution-state.ts';
import { resume } from '../workflows/executions/retry.ts';
import { renewSchedule } from '../workflows/schedule.ts';

/** Rows that are to have an open run, or a Schedule, on Temporal's side. */
export interface Kind {
  /** Of their runs; `Schedule` for those that have none but a Schedule. */
  workflowType: string;
  /**
   * All of them: `key`, by which `revive` finds one; `workflow_id`, under which it must be open; `settled`, that it has
   * been as it is for a while, so that a start can no longer be on its way.
   */
  rows: string;
  /** Brings one back from its stored place. In a transaction; whether it is still wanted is looked at again. */
  revive(trx: Db, key: string): Promise<void>;
}

const isPastGrace = (since: string): string => `${since} < now() - interval '2 minutes'`;

/** Whoever adds something that lives in Temporal adds it here. */
export const kinds: Kind[] = [
  {
    workflowType: 'execution',
    rows: `select id::text as key, workflow_id('execution', project_id::text, id::text, generation::text) as workflow_id,
        ${isPastGrace('updated_at')} as past_grace
      from executions where status in ('RUNNING', 'WAITING')`,
    revive: async (trx, id) => {
      const execution = await Execution.query(trx).findById(id).forUpdate();
      if (execution && isActive(execution)) await resume(trx, execution);
    },
  },
  {
    workflowType: 'campaign',
    rows: `select id::text as key, workflow_id('campaign', project_id::text, id::text, generation::text) as workflow_id,
        ${isPastGrace('updated_at')} as past_grace
      from campaigns c where status in ('SCHEDULED', 'SENDING') and deleted_at is null
        -- A cancelled one is done when the last of its recipients says so.
        or status = 'CANCELLED' and exists (select 1 from delivery_batches b where b.campaign_id = c.id)`,
    revive: async (trx, id) => {
      const campaign = await Campaign.query(trx).findById(id).forUpdate();
      if (!campaign || !['SCHEDULED', 'SENDING', 'CANCELLED'].includes(campaign.status)) return;
      const generation = campaign.generation + 1;
      await startRun(trx, await campaign.$query(trx).patchAndFetch({ generation, updatedAt: new Date() }));
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
    workflowType: 'job',
    rows: `select id::text as key, workflow_id('job', project_id::text, id::text) as workflow_id, ${isPastGrace('admitted_at')} as past_grace
      from jobs where status in ('QUEUED', 'RUNNING') and admitted_at is not null`,
    revive: async (trx, id) => {
      const job = await Job.query(trx).findById(id).forUpdate();
      if (!job?.admittedAt || (job.status !== 'QUEUED' && job.status !== 'RUNNING')) return;
      await startAgain(trx, 'job', job.projectId, id, { jobId: id });
    },
  },
  {
    workflowType: 'erasure',
    rows: `select id::text as key, 'erasure/' || project_id || '/' || id as workflow_id,
        ${isPastGrace('created_at')} as past_grace
      from project_erasures where not done`,
    revive: async (trx, id) => {
      const open = await trx('projectErasures').where({ id, done: false }).forUpdate().first('projectId');
      if (open) await startAgain(trx, 'erasure', open.projectId, id, { erasureId: id });
    },
  },
  {
    // Batches that nobody holds are taken apart by the relay; here only runs that have none are ended.
    workflowType: 'delivery',
    rows: `select id::text as key, workflow_id('delivery', id::text) as workflow_id, false as past_grace from delivery_batches`,
    revive: async () => {},
  },
  {
    workflowType: 'Schedule',
    rows: `select id::text as key, workflow_id('cron', project_id::text, id::text) as workflow_id, ${isPastGrace('updated_at')} as past_grace
      from workflows where trigger_type = 'SCHEDULE' and trigger_config ->> 'cron' is not null`,
    revive: async (trx, id) => {
      const workflow = await Workflow.query(trx).findById(id).forUpdate();
      if (workflow?.triggerType === 'SCHEDULE') await renewSchedule(trx, workflow);
    },
  },
];

/** For those whose ids have no generation: the run that was lost makes room for another under the same id. */
async function startAgain(trx: Db, type: 'job' | 'erasure', projectId: string, id: string, arg: object): Promise<void> {
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
