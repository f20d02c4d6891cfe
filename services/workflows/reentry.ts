import type { Db } from '../../db/connect.ts';

// `once_per_contact` marks the execution that forbids its contact to enter again. A unique index allows one per contact.

/** Sets or clears the mark on past executions. The caller has locked the workflow, so no contact enters meanwhile. */
export async function changeReentry(trx: Db, workflowId: string, allowReentry: boolean): Promise<void> {
  await trx.raw(allowReentry ? clearMarks : setMarks, { workflowId });
}

const clearMarks = `
  update executions set once_per_contact = false
  where id in (select id from executions where workflow_id = :workflowId and once_per_contact order by id for update)`;

const setMarks = `
  update executions set once_per_contact = true where id in (
    select first.id from executions first where first.workflow_id = :workflowId and first.id in (
      select distinct on (e.contact_id) e.id from executions e where e.workflow_id = :workflowId
      order by e.contact_id, e.once_per_contact desc, e.id)
    order by first.id for update)`;
