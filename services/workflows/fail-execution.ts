import { type Db, inTransaction } from '../../db/connect.ts';
import { type ExecutionRef, failAt } from './advance.ts';
import { isActive, lockExecution } from './execution-state.ts';
import { storedGraph } from './stored-graph.ts';
import { entriesOf, findStep } from './walk.ts';

/** Fails an execution whose step keeps failing because of an internal error. A client can retry it. */
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
