import type { Db } from '../../db/connect.ts';
import { type ContactRecord, type ContactRow, contactRecord } from '../../db/models/contact.ts';
import type { ExecutionStatus } from '../../db/models/execution.ts';
import { statement } from '../../db/statement.ts';
import type { Data } from '../contacts/data.ts';

/** An execution under its contact's lock and its own: until the transaction ends nobody else moves it. */
export interface HeldExecution {
  id: string;
  projectId: string;
  workflowId: string;
  workflowName: string;
  version: number;
  contactId: string;
  /** Undefined when it has been deleted. */
  contact: ContactRecord | undefined;
  status: ExecutionStatus;
  /** Null before the first step. */
  currentStepId: string | null;
  visit: number;
  context: Data;
  cut: string;
  wakeAt: Date | null;
  awaits: string | null;
  depth: number;
  generation: number;
  startedAt: Date;
}

interface Row {
  id: string;
  project_id: string;
  workflow_id: string;
  workflow_name: string | null;
  version: number;
  contact_id: string;
  status: ExecutionStatus;
  current_step_id: string | null;
  visit: number;
  context: Data;
  cut: string;
  wake_at: Date | null;
  awaits: string | null;
  depth: number;
  generation: number;
  started_at: Date;
  contact: Omit<ContactRow, 'created_at' | 'updated_at'> & { created_at: string; updated_at: string };
}

const hold = statement<Row | (Omit<Row, 'contact'> & { contact: null })>(
  'execution-hold',
  `select e.id, e.project_id, e.workflow_id, e.version, e.contact_id, e.status, e.current_step_id, e.visit, e.context,
     e.cut, e.wake_at, e.awaits, e.depth, e.generation, e.started_at, w.name as workflow_name, to_jsonb(c) as contact
   from hold_execution($1) e
   left join lateral contact_now(e.contact_id) c on true
   left join workflows w on w.id = e.workflow_id`,
);

export async function holdExecution(trx: Db, id: string): Promise<HeldExecution | undefined> {
  const [row] = await hold(trx, [id]);
  if (!row) return undefined;
  const { contact } = row;
  return {
    id: row.id,
    projectId: row.project_id,
    workflowId: row.workflow_id,
    workflowName: row.workflow_name ?? '',
    version: row.version,
    contactId: row.contact_id,
    contact: contact
      ? contactRecord({
          ...contact,
          created_at: new Date(contact.created_at),
          updated_at: new Date(contact.updated_at),
        })
      : undefined,
    status: row.status,
    currentStepId: row.current_step_id,
    visit: row.visit,
    context: row.context,
    cut: row.cut,
    wakeAt: row.wake_at,
    awaits: row.awaits,
    depth: row.depth,
    generation: row.generation,
    startedAt: row.started_at,
  };
}

export const isActive = ({ status }: { status: ExecutionStatus }): boolean =>
  status === 'RUNNING' || status === 'WAITING';
