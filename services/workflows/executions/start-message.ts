import { type Db, wake } from '../../../db/connect.ts';
import { statement } from '../../../db/statement.ts';

/** SQL: writes an outbox message for each of the given executions, which starts its Temporal workflow. */
export const insertStartMessages = (executions: string): string =>
  `insert into outbox (queue, project_id, workflow_id, action, payload)
   select 'starts', project_id, workflow_id('execution', project_id::text, id::text, generation::text), 'start',
     jsonb_build_object('workflowType', 'execution', 'contactId', contact_id, 'resourceId', workflow_id,
       'summary', 'workflow ' || workflow_id || ', version ' || version,
       'args', jsonb_build_array(jsonb_build_object('executionId', id, 'generation', generation)))
   from ${executions}`;

const insertStartMessage = statement(
  'executions-start-message',
  insertStartMessages('executions where project_id = $1 and id = $2'),
);

export async function writeStartMessage(trx: Db, { projectId, id }: { projectId: string; id: string }): Promise<void> {
  await insertStartMessage(trx, [projectId, id]);
  wake(trx, 'starts');
}
