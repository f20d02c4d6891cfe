import type { Db } from '../../db/connect.ts';
import { statement } from '../../db/statement.ts';

const SHOWN = 20;

const find = statement<{ visit: number; type: string; step_id: string; status: string; branch: string | null }>(
  'execution-steps-so-far',
  `select visit, type, step_id, status, branch from execution_steps where execution_id = $1
   order by visit desc limit $2`,
);

/** The last steps of an execution for an operator: types and ids, and nothing that anybody wrote. */
export async function stepsSoFar(db: Db, executionId: string): Promise<string> {
  const rows = await find(db, [executionId, SHOWN]);
  return rows
    .reverse()
    .map(({ visit, type, step_id, status, branch }) => {
      const left = branch ? `, left by ${branch}` : '';
      return `${visit}. ${type} \`${step_id}\`: ${status}${left}`;
    })
    .join('\n');
}
