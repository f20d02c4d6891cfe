import { type Db, wake } from '../../db/connect.ts';
import type { ExecutionStatus, ExecutionStepStatus } from '../../db/models/execution.ts';
import { fieldsFit } from '../../db/models/name-limits.ts';
import { statement } from '../../db/statement.ts';
import { faultPoint } from '../../platform/fault-points.ts';
import { newId } from '../../platform/ids.ts';
import type { Data } from '../contacts/data.ts';
import { type ExecutionState, type ExecutionStateRow, stateColumns, stateOf } from './execution-state.ts';
import type { Branch, Step } from './graph.ts';

/** The record of a visit. */
export interface StepRecord {
  status: ExecutionStepStatus;
  branch?: Branch | null;
  output?: Data | undefined;
  error?: string;
  /** With its headers sealed. */
  request?: Data;
  scheduledFor?: Date | null;
}

/** The state of the execution after a step. */
export interface NextState {
  status: ExecutionStatus;
  stepId: string | null;
  visit: number;
  context?: Data;
  afterPosition?: string;
  wakeAt?: Date | null;
  awaitedEvent?: string | null;
  exitReason?: string | null;
  error?: string | null;
}

/** What a step changes, in the statement that records it. */
export interface Effects {
  change?: { subscribed: boolean | null; patch: Data; deletes: string[]; eventId: string };
  /** Limit of the project's custom fields, when the change has not been checked against it yet. */
  maxFields?: number;
  mail?: StepMailRow;
}

export interface StepMailRow {
  id: string;
  priority: number;
  templateId: string;
  to: string;
  from: string;
  fromName: string | null;
  replyTo: string | null;
  subject: string;
  bodyId: string;
  html: string;
  type: string;
}

/**
 * The step must be repeated under locks: the execution or its contact changed since it was read, or the custom fields of
 * the update do not fit.
 */
export class StaleExecution extends Error {}

const write = statement<ExecutionStateRow>(
  'execution-move',
  `select ${stateColumns} from write_execution_step($1, $2, $3::jsonb, $4::jsonb, $5::jsonb, $6::jsonb)`,
);

/** Returns no row when the custom fields of the update exceed the project's limit. */
const writeIfFits = statement<ExecutionStateRow>(
  'execution-move-if-fits',
  `with fitting as materialized (
     select $1::uuid as id where ${fieldsFit({
       projectId: '$7::uuid',
       keys: "jsonb_object_keys($5::jsonb -> 'patch')",
       count: '$8::integer',
       max: '$9::integer',
     })}
   )
   select ${stateColumns.replace(/\w+/g, 'moved.$&')}
   from fitting, write_execution_step(fitting.id, $2, $3::jsonb, $4::jsonb, $5::jsonb, $6::jsonb) as moved`,
);

/** Writes a step's effects, its record and the next state in one statement. Returns the execution in its new state. */
export async function writeExecutionStep(
  db: Db,
  execution: ExecutionState,
  step: Pick<Step, 'id' | 'type' | 'name'>,
  record: StepRecord,
  next: NextState,
  { change, mail, maxFields }: Effects = {},
): Promise<ExecutionState> {
  const { id: stepId, type, name } = step;
  const { scheduledFor, ...visited } = record;
  const { stepId: nextId, afterPosition, wakeAt, awaitedEvent, exitReason, ...state } = next;
  const values = [
    execution.id,
    execution.rowVersions,
    JSON.stringify({ ...visited, id: newId(), step_id: stepId, type, name, scheduled_for: scheduledFor }),
    JSON.stringify({
      ...state,
      step_id: nextId,
      after_position: afterPosition,
      wake_at: wakeAt,
      awaited_event: awaitedEvent,
      exit_reason: exitReason,
    }),
    change ? JSON.stringify(change) : null,
    mail ? JSON.stringify(mail) : null,
  ];
  const fields = Object.keys(change?.patch ?? {}).length;
  faultPoint('step-before-write');
  const [row] =
    maxFields === undefined || fields === 0
      ? await write(db, values)
      : await writeIfFits(db, [...values, execution.projectId, fields, maxFields]);
  if (!row) throw new StaleExecution();
  faultPoint('step-after-write');
  if (mail) wake(db, 'mail');
  return stateOf(row);
}
