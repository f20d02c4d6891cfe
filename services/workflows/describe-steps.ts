import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

const MAX_STEPS_SHOWN = 20;

const find = statement<{ visit: number; type: string; stepId: string; status: string; branch: string | null }>(
  'execution-steps-so-far',
  `select visit, type, step_id, status, branch from execution_steps where execution_id = $1
   order by visit desc limit $2`,
);

/** Describes the last steps of an execution for operators: types and ids only, no customer data. */
export async function describeSteps(db: Db, executionId: string): Promise<string> {
  const rows = await find(db, [executionId, MAX_STEPS_SHOWN]);
  return rows
    .reverse()
    .map(({ visit, type, stepId, status, branch }) => {
      const left = branch ? `, left by ${branch}` : '';
      return `${visit}. ${type} \`${stepId}\`: ${status}${left}`;
    })
    .join('\n');
}
