import { type Db, wake } from '../../db/connect.ts';
import type { ExecutionStatus, ExecutionStepStatus } from '../../db/models/execution.ts';
import { fieldsFit } from '../../db/models/name-limits.ts';
import { statement } from '../../db/statement.ts';
import { newId } from '../../platform/ids.ts';
import type { Data } from '../contacts/data.ts';
import { type ExecutionState, type ExecutionStateRow, placed, stateColumns } from './execution-state.ts';
import type { Branch, Step } from './graph.ts';

/** What is written of a visit. */
export interface StepRecord {
  status: ExecutionStepStatus;
  branch?: Branch | null;
  output?: Data | undefined;
  error?: string;
  /** With its headers sealed. */
  request?: Data;
  scheduledFor?: Date | null;
}

/** Where the execution is from then on. */
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

/** What a step does to the world, in the statement that records it. */
export interface Effects {
  change?: { subscribed: boolean | null; patch: Data; deletes: string[]; eventId: string };
  /** How many custom fields the project may have, where the change is still to be compared with it. */
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
  html: string;
  type: string;
}

/**
 * It can only be gone on with under the locks: somebody has written the execution or its contact since it was seen, or the
 * fields of the change do not fit.
 */
export class StaleExecution extends Error {}

const write = statement<ExecutionStateRow>(
  'execution-move',
  `select ${stateColumns} from write_execution_step($1, $2, $3::jsonb, $4::jsonb, $5::jsonb, $6::jsonb)`,
);

/** Moves nothing where the fields of the change do not all fit into the project. */
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

/** What a step does, its record and the place after it, in one statement. Gives back the execution at its new place. */
export async function writeExecutionStep(
  db: Db,
  execution: ExecutionState,
  step: Pick<Step, 'id' | 'type' | 'name'>,
  record: StepRecord,
  place: NextState,
  { change, mail, maxFields }: Effects = {},
): Promise<ExecutionState> {
  const { id: stepId, type, name } = step;
  const { scheduledFor, ...rest } = record;
  const { stepId: nextId, afterPosition, wakeAt, awaitedEvent, exitReason, ...there } = place;
  const values = [
    execution.id,
    execution.rowVersions,
    JSON.stringify({ ...rest, id: newId(), step_id: stepId, type, name, scheduled_for: scheduledFor }),
    JSON.stringify({
      ...there,
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
  const [row] =
    maxFields === undefined || fields === 0
      ? await write(db, values)
      : await writeIfFits(db, [...values, execution.projectId, fields, maxFields]);
  if (!row) throw new StaleExecution();
  if (mail) wake(db, 'mail');
  return placed(row);
}
