import { type Db, wake } from '../../db/connect.ts';
import { type EmailContent, emailContentColumns, insertEmailsSql } from '../../db/models/email-writing.ts';
import type { ExecutionStatus, ExecutionStepStatus } from '../../db/models/execution.ts';
import { fieldsFit } from '../../db/models/name-limits.ts';
import type { TopicDefault } from '../../db/models/topic.ts';
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
  change?: {
    subscribed: boolean | null;
    patch: Data;
    deletes: string[];
    eventId: string;
    /** States by topic id. */
    topics?: Record<string, TopicDefault>;
  };
  /** Limit of the project's custom fields, when the change has not been checked against it yet. */
  maxFields?: number;
  mail?: StepMailRow;
}

/** An email of a step as its row of the ledger, with its content. */
export interface StepMailRow {
  id: string;
  to: string;
  templateId: string;
  topicId?: string | null;
  /** Of MARKETING and HEADLESS email. */
  needsSubscription?: boolean;
  content: EmailContent;
}

/**
 * The step must be repeated under locks: the execution or its contact changed since it was read, or the custom fields of
 * the update do not fit.
 */
export class StaleExecution extends Error {}

const write = statement<ExecutionStateRow>(
  'execution-move',
  `select ${stateColumns} from write_execution_step($1, $2, $3::jsonb, $4::jsonb, $5::jsonb)`,
);

/** After transactional mail, before campaigns. */
const MAIL_PRIORITY = 1;

// `step` is empty, and no email is written, where the execution has changed. A visit has one email, however often it is tried.
const writeWithMail = statement<ExecutionStateRow>(
  'execution-move-with-mail',
  `with step as materialized (select * from write_execution_step($1, $2, $3::jsonb, $4::jsonb, $5::jsonb)),
   content as materialized (select * from json_to_recordset($7::json) as content (${emailContentColumns})),
   mail as materialized (
     select 1 as content, $8::uuid as id, $9::uuid as contact_id, $10::text as email, null::text as name,
       $11::uuid as template_id, 'WORKFLOW' as source_type, ${MAIL_PRIORITY} as priority, $12::uuid as workflow_id,
       $1::uuid as execution_id, $13::integer as step_visit, $14::uuid as topic_id, $15::boolean as needs_subscription,
       $16::uuid as step_id
     where exists (select from step)
       and not exists (select from emails where execution_id = $1 and step_visit = $13)
   ),
   ${insertEmailsSql('$6::uuid', 'template_id, source_type, priority, workflow_id, execution_id, step_visit, topic_id, needs_subscription, step_id')}
   select ${stateColumns} from step`,
);

/** Returns no row when the custom fields of the update exceed the project's limit. */
const writeIfFits = statement<ExecutionStateRow>(
  'execution-move-if-fits',
  `with fitting as materialized (
     select $1::uuid as id where ${fieldsFit({
       projectId: '$6::uuid',
       keys: "jsonb_object_keys($5::jsonb -> 'patch')",
       count: '$7::integer',
       max: '$8::integer',
     })}
   )
   select ${stateColumns.replace(/\w+/g, 'moved.$&')}
   from fitting, write_execution_step(fitting.id, $2, $3::jsonb, $4::jsonb, $5::jsonb) as moved`,
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
  ];
  const fields = Object.keys(change?.patch ?? {}).length;
  faultPoint('step-before-write');
  const [row] = mail
    ? await writeWithMail(db, [...values, execution.projectId, ...mailValues(execution, mail), stepId])
    : maxFields === undefined || fields === 0
      ? await write(db, values)
      : await writeIfFits(db, [...values, execution.projectId, fields, maxFields]);
  if (!row) throw new StaleExecution();
  faultPoint('step-after-write');
  if (mail) wake(db, 'mail');
  return stateOf(row);
}

const mailValues = (
  { contactId, workflowId, visit }: ExecutionState,
  { id, to, templateId, topicId, needsSubscription, content }: StepMailRow,
) => [
  JSON.stringify([content]),
  id,
  contactId,
  to,
  templateId,
  workflowId,
  visit,
  topicId ?? null,
  needsSubscription || null,
];
