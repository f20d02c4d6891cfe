import type { Db } from '../../db/connect.ts';
import type { ContactRecord } from '../../db/models/contact.ts';
import type { ExecutionStatus } from '../../db/models/execution.ts';
import { statement } from '../../db/statement.ts';
import type { Data } from '../contacts/data.ts';

/** An execution with its contact. */
export interface ExecutionState {
  id: string;
  projectId: string;
  workflowId: string;
  workflowName: string;
  version: number;
  contactId: string;
  /** Undefined when the contact was deleted. */
  contact: ContactRecord | undefined;
  status: ExecutionStatus;
  /** Null before the first step. */
  currentStepId: string | null;
  visit: number;
  context: Data;
  afterPosition: string;
  wakeAt: Date | null;
  awaitedEvent: string | null;
  depth: number;
  generation: number;
  startedAt: Date;
  /**
   * Null while this transaction has the locks of the execution and its contact. Otherwise the versions of both rows, which
   * a write compares (optimistic locking).
   */
  rowVersions: string | null;
}

/** A row of the view `execution_states`. The contact's columns are null when it was deleted. */
export interface ExecutionStateRow
  extends Omit<ExecutionState, 'contact' | 'workflowName'>,
    Omit<ContactRecord, 'id' | 'email'> {
  workflowName: string | null;
  email: string | null;
}

export const stateColumns = `id, project_id, workflow_id, workflow_name, version, contact_id, status, current_step_id,
  visit, context, after_position, wake_at, awaited_event, depth, generation, started_at, email, subscribed, data, created_at, updated_at,
  row_versions`;

const read = statement<ExecutionStateRow>(
  'execution-read',
  `select ${stateColumns} from execution_states where id = $1`,
);
const lock = statement<ExecutionStateRow>('execution-lock', `select ${stateColumns} from lock_execution($1)`);

export async function readExecution(db: Db, id: string): Promise<ExecutionState | undefined> {
  const [row] = await read(db, [id]);
  return row && stateOf(row);
}

/** Locks the contact and the execution until the transaction ends. */
export async function lockExecution(trx: Db, id: string): Promise<ExecutionState | undefined> {
  const [row] = await lock(trx, [id]);
  return row && { ...stateOf(row), rowVersions: null };
}

export function stateOf(row: ExecutionStateRow): ExecutionState {
  const { email, subscribed, data, createdAt, updatedAt, workflowName, ...execution } = row;
  const contact = email === null ? undefined : { id: row.contactId, email, subscribed, data, createdAt, updatedAt };
  return { ...execution, workflowName: workflowName ?? '', contact };
}

export const isActive = ({ status }: { status: ExecutionStatus }): boolean =>
  status === 'RUNNING' || status === 'WAITING';
