import type { Db } from '../../db/connect.ts';
import type { ExecutionStatus, ExecutionStepStatus } from '../../db/models/execution.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import type { Data } from '../contacts/data.ts';
import type { Branch, Step } from './graph.ts';
import type { HeldExecution } from './held-execution.ts';
import type { WebhookRequest } from './webhook-call.ts';

/** What is written of a visit. */
export interface StepRecord {
  status: ExecutionStepStatus;
  branch?: Branch | null;
  output?: Data | undefined;
  error?: string;
  request?: WebhookRequest;
  scheduledFor?: Date | null;
}

/** Where the execution is from then on. */
export interface NewPlace {
  status: ExecutionStatus;
  stepId: string | null;
  visit: number;
  context?: Data;
  cut?: string;
  wakeAt?: Date | null;
  awaits?: string | null;
  exitReason?: string | null;
  error?: string | null;
}

// A visit has one record, whoever tries it how often: a retry goes on with it. What is WAITING or RUNNING is not over.
const write = statement(
  'execution-move',
  `with record as (
     insert into execution_steps as s (id, project_id, execution_id, visit, step_id, type, name, status, branch, output,
       error, request, scheduled_for, completed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
       case when $8::text not in ('RUNNING', 'WAITING') then now() end)
     on conflict (execution_id, visit) do update set status = excluded.status, branch = excluded.branch,
       output = coalesce(excluded.output, s.output), error = excluded.error, request = excluded.request,
       scheduled_for = coalesce(excluded.scheduled_for, s.scheduled_for),
       attempt = s.attempt + (s.status = 'FAILED')::integer, completed_at = excluded.completed_at,
       started_at = case when s.status = 'FAILED' then now() else s.started_at end
   )
   update executions set status = $14, current_step_id = $15, visit = $16, context = coalesce($17, context),
     cut = coalesce($18, cut), wake_at = $19, awaits = $20, exit_reason = $21, error = $22, updated_at = now(),
     completed_at = case when $14::text not in ('RUNNING', 'WAITING') then now() end
   where id = $3`,
);

/** The record of a visit and the place after it, in one statement of the step's own transaction. */
export async function moveExecution(
  trx: Db,
  { id, projectId, visit }: HeldExecution,
  step: Pick<Step, 'id' | 'type' | 'name'>,
  record: StepRecord,
  place: NewPlace,
): Promise<void> {
  await write(trx, [
    newId(),
    projectId,
    id,
    visit,
    step.id,
    step.type,
    step.name,
    record.status,
    record.branch ?? null,
    record.output ? JSON.stringify(record.output) : null,
    record.error ?? null,
    record.request ? JSON.stringify(record.request) : null,
    record.scheduledFor ?? null,
    place.status,
    place.stepId,
    place.visit,
    place.context ? JSON.stringify(place.context) : null,
    place.cut ?? null,
    place.wakeAt ?? null,
    place.awaits ?? null,
    place.exitReason ?? null,
    place.error ?? null,
  ]);
}
