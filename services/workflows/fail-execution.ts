import { type Db, inTransaction } from '../../db/connect.ts';
import { type ExecutionRef, failAt } from './advance.ts';
import { isActive, lockExecution } from './execution-state.ts';
import { storedGraph } from './stored-graph.ts';
import { entriesOf, findStep } from './walk.ts';

/** For an execution whose step fails again and again through a fault of ours: visible, and to be tried again by hand. */
export async function failExecution(db: Db, { executionId, generation }: ExecutionRef, error: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const execution = await lockExecution(trx, executionId);
    if (execution?.generation !== generation || !isActive(execution)) return;
    const graph = await storedGraph(trx, execution.workflowId, execution.version);
    const { currentStepId } = execution;
    const step = graph && (currentStepId === null ? entriesOf(graph)[0] : findStep(graph, currentStepId));
    if (graph && step) await failAt(trx, { execution, graph, step }, error);
  });
}
