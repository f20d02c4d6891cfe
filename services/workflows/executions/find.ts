import type { Db } from '../../../db/connect.ts';
import { Contact } from '../../../db/models/contact.ts';
import { Execution, type ExecutionStatus, ExecutionStep } from '../../../db/models/execution.ts';
import type { Workflow } from '../../../db/models/workflow.ts';
import { notFound } from '../../../platform/errors.ts';
import type { OffsetPage } from '../../paging.ts';
import { findWorkflow } from '../find.ts';

export { executionStatuses } from '../../../db/models/execution.ts';

export interface ExecutionsQuery {
  page: number;
  pageSize: number;
  status?: ExecutionStatus | undefined;
  contactId?: string | undefined;
}

export interface FoundExecution {
  execution: Execution;
  /** Null when the contact was deleted. */
  contact: Contact | null;
  workflow: Workflow;
  /** In the order of the visits. */
  steps: ExecutionStep[];
}

export const executionNotFound = () => notFound('execution');

/** Returns executions, newest first. */
export async function listExecutions(
  db: Db,
  projectId: string,
  workflowId: string,
  { page, pageSize, status, contactId }: ExecutionsQuery,
): Promise<OffsetPage<Execution>> {
  await findWorkflow(db, projectId, workflowId);
  const { results, total } = await Execution.query(db)
    .where({ projectId, workflowId, ...(status && { status }), ...(contactId && { contactId }) })
    .orderBy('id', 'desc')
    .page(page - 1, pageSize);
  return { data: results, total, page, pageSize, totalPages: Math.ceil(total / pageSize) };
}

/** Reads Postgres only, so it works while Temporal is unavailable and after Temporal's retention. */
export async function findExecution(
  db: Db,
  projectId: string,
  workflowId: string,
  id: string,
): Promise<FoundExecution> {
  const workflow = await findWorkflow(db, projectId, workflowId);
  const execution = await Execution.query(db).findOne({ projectId, workflowId, id });
  if (!execution) throw executionNotFound();
  const contact = await Contact.query(db).findOne({ projectId, id: execution.contactId });
  const steps = await ExecutionStep.query(db).where({ executionId: id }).orderBy('visit');
  return { execution, contact: contact ?? null, workflow, steps };
}
